"""Every example runs, says what its title promises, and leaves nothing beside the log."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
SAYS: dict[str, list[str]] = {
    "01-read-and-mine": [
        r"2532 requests in 2532 lines, 0 left out",
        r"\d\d\.\d% of \d+ blocks of 64 characters repeat",
    ],
    "02-plan-without-an-engine": [r"\d+ prefixes, \d+ tokens, \d+", r"note: .*assumed, not measured"],
    "03-warm-a-sandbox-and-prove-it": [
        r"proven resident: (\d+) of \1 attempted",
        r"a second time: \{'ALREADY': \d+\}",
    ],
    "04-compare-strategies": [r"preheat +\d+ +\d+ +\d", r"clusters +\d", r"every-prompt +\d", r"none +0 +0 +\d"],
    "06-merge-profiles-and-recognise": [
        r"the same as mined at once: True",
        r"\d+ requests, +\d+\.\d% of all blocks, [a-z-]+",
        r"[1-9]\d\d of the \d{3} prompts that came later are of a template that was seen before",
    ],
    "05-judge-two-replays": [r"Warming cut the mean TTFT", r"Promise residency>=0.95: kept", r"report: .*report\.html"],
}


def test_every_example_is_run_here() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_the_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "report")] if name.startswith("05") else [name])
    before = set(EXAMPLES.rglob("*"))
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    told = capsys.readouterr()
    for line in SAYS[name]:
        assert re.search(line, told.out), told.out
    assert not told.err
    assert set(EXAMPLES.rglob("*")) == before
    assert (tmp_path / "report" / "report.html").exists() == name.startswith("05")
