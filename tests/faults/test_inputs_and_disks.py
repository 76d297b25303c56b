"""Bad input, budgets that hold nothing, disks that are full: one line, the documented exit code, nothing partial."""

from __future__ import annotations

import gzip
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.command import leftovers, one_line, preheat, process, write_log
from contracts.engine_fixtures import running
from preheat.files.versioned import load
from preheat.records.plan import Plan
from preheat.records.run import WarmRun
from preheat.sandbox.server import SandboxServer, serve
from preheat.sandbox.settings import SandboxSettings


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxServer]:
    with running(serve(SandboxSettings(prefill_ms_per_token=0.02, token_interval_ms=0.5))) as server:
        yield server


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "log.jsonl", requests=120)


@pytest.fixture(scope="module")
def profile(log: Path) -> Path:
    assert preheat("mine", log, "-o", log.parent / "profile.json").returncode == 0
    return log.parent / "profile.json"


BAD_LOGS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no requests in"),
    "unknown": (b"once upon a time\nthere was a log\n", "is of no known format: none of "),
    "truncated": (gzip.compress(b'{"prompt": "hello"}\n' * 5000)[:-40], "is a truncated gzip file"),
}


@pytest.mark.parametrize("name", BAD_LOGS)
@pytest.mark.parametrize("command", ["read", "mine", "up", "replay"])
def test_a_log_that_cannot_be_used(sandbox: SandboxServer, tmp_path: Path, name: str, command: str) -> None:
    content, said = BAD_LOGS[name]
    (tmp_path / "log").write_bytes(content)
    arguments: dict[str, tuple[str, ...]] = {
        "read": ("log", "-o", "out.jsonl"),
        "mine": ("log", "-o", "out.json"),
        "up": ("--logs", "log", "--engine", sandbox.url, "-o", "out"),
        "replay": ("log", "--engine", sandbox.url, "-o", "out.json"),
    }
    ran = preheat(command, *arguments[command], cwd=tmp_path)
    assert ran.returncode == 2
    line = one_line(ran)
    assert said in line
    assert line.endswith(")")  # the remedy
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_an_unknown_format_says_where_the_known_ones_are(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(BAD_LOGS["unknown"][0])
    line = one_line(preheat("read", "log", cwd=tmp_path))
    assert line.count("not JSON") == 1
    assert "docs/formats.md" in line
    assert "--format" in line


def test_a_profile_is_not_a_plan(profile: Path, tmp_path: Path) -> None:
    ran = preheat("warm", profile, "--engine", "http://127.0.0.1:9", cwd=tmp_path)
    assert ran.returncode == 2
    assert "is a preheat.profile file; here a preheat.plan file is needed" in one_line(ran)


@pytest.mark.parametrize("how", ["plan", "up"])
def test_a_budget_that_holds_not_one_item_is_refused(
    sandbox: SandboxServer, log: Path, profile: Path, tmp_path: Path, how: str
) -> None:
    engine = ("--engine", sandbox.url)
    arguments = ("plan", profile, *engine) if how == "plan" else ("up", "--logs", log, *engine, "-o", "out")
    ran = preheat(*arguments, "--budget", "1KiB", cwd=tmp_path)
    assert ran.returncode == 5
    line = one_line(ran)
    assert "1.0 KiB" in line
    assert "raise --budget" in line
    assert not list(tmp_path.rglob("plan.json"))


# --- full disks


def small_files(limit_bytes: int) -> Any:
    """No file of the process can grow beyond that, as on a full disk. (Python ignores SIGXFSZ by itself.)"""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))


@pytest.mark.parametrize("earlier", [True, False])
def test_a_plan_that_cannot_be_written_leaves_the_earlier_one(profile: Path, tmp_path: Path, earlier: bool) -> None:
    if earlier:
        assert preheat("plan", profile, "-o", "plan.json", cwd=tmp_path).returncode == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    ran = process("plan", profile, "-o", "plan.json", cwd=tmp_path, preexec_fn=small_files(2_000))
    assert ran.returncode == 2
    line = one_line(ran)
    assert "cannot write plan.json: File too large" in line
    assert line.endswith(")")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("output", ["out.jsonl", "out.jsonl.zst"])
def test_lines_that_cannot_be_written_leave_nothing(log: Path, tmp_path: Path, output: str) -> None:
    (tmp_path / output).write_text("earlier")
    ran = process("read", log, "-o", output, cwd=tmp_path, preexec_fn=small_files(2_000))
    assert ran.returncode == 2
    assert f"cannot write {output}: File too large" in one_line(ran)
    assert (tmp_path / output).read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == [output]


def test_a_place_that_cannot_be_written_is_said(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for output in ("file/out.jsonl", "."):
        ran = preheat("read", log, "-o", output, cwd=tmp_path)
        assert ran.returncode == 2
        assert "cannot write" in one_line(ran)
    assert not leftovers(tmp_path)


def test_a_disk_that_fills_up_during_the_warm_up(sandbox: SandboxServer, profile: Path, tmp_path: Path) -> None:
    engine = ("--engine", sandbox.url)
    assert preheat("plan", profile, "-o", "plan.json", cwd=tmp_path).returncode == 0
    items = len(load(tmp_path / "plan.json", Plan).items)
    ran = process("warm", "plan.json", *engine, "-o", "warm.json", cwd=tmp_path, preexec_fn=small_files(1_500))
    assert ran.returncode == 2
    assert "warm.json.journal: File too large" in one_line(ran)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "warm.json.journal"]
    lines = (tmp_path / "warm.json.journal").read_bytes().splitlines(keepends=True)
    assert 2 < len(lines) < items * 2
    assert lines[-1].endswith(b"\n")
    again = preheat("warm", "plan.json", *engine, "-o", "warm.json", "--resume", cwd=tmp_path)
    assert again.returncode == 0
    assert load(tmp_path / "warm.json", WarmRun).counts == {"LOADED": items}


def test_a_result_that_cannot_be_written_keeps_the_journal(
    sandbox: SandboxServer, profile: Path, tmp_path: Path
) -> None:
    assert preheat("plan", profile, "-o", "plan.json", cwd=tmp_path).returncode == 0
    (tmp_path / "warm.json").mkdir()
    ran = preheat("warm", "plan.json", "--engine", sandbox.url, "-o", "warm.json", cwd=tmp_path)
    assert ran.returncode == 2
    assert "that is a folder" in one_line(ran)
    assert (tmp_path / "warm.json.journal").exists()
