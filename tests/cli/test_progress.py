"""What is shown while nothing happens."""

from __future__ import annotations

import pytest

from preheat.cli.progress import Reporter
from preheat.clock import run_virtual
from preheat.replay.player import Player
from preheat.sandbox.settings import SandboxSettings
from replay.traffic import Noting, chat


def test_a_long_quiet_stretch_is_not_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now_s = 100.0
    monkeypatch.setattr("preheat.cli.progress.time.monotonic", lambda: now_s)
    with Reporter("plain") as reporter:
        for _ in range(120):  # as the player calls it while it waits
            now_s += 0.5
            reporter.progress("warm", 3, 40)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 12
    assert lines[-1].endswith("warm 3/40")


def test_the_player_reports_while_it_waits_for_a_time_and_for_an_answer() -> None:
    beats: list[int] = []
    slow = Noting(SandboxSettings(prefill_ms_per_token=0, first_token_ms=20_000))
    player = Player([chat("a", 0.0), chat("b", 60.0)], slow, progress=lambda label, done, of: beats.append(done))
    run_virtual(player.run())
    assert beats.count(0) >= 20  # while the first is on its way
    assert beats.count(1) >= 60
    assert beats[-1] == 2
