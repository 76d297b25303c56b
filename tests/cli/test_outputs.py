"""What a command reads is never written over, and two results never go into one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import one_line, preheat, write_log

from preheat.files.versioned import load
from preheat.records.profile import Profile

COMMANDS = (
    ("mine", "d.jsonl", "-o", "d.jsonl"),
    ("mine", "d.jsonl", "-o", "x", "--report", "d.jsonl"),
    ("mine", "d.jsonl", "-o", "x", "--gexf", "d.jsonl"),
    ("mine", "d.jsonl", "-o", "x", "--gexf", "./x"),
    ("mine", "d.jsonl", "-o", "x", "--report", "x"),
    ("mine", ".", "-o", "./d.jsonl"),
    ("mine", "*.jsonl", "-o", "d.jsonl"),
    ("mine", "d.jsonl", "-o", "symbolic"),
    ("mine", "symbolic", "-o", "d.jsonl"),
    ("mine", "hard", "-o", "d.jsonl"),
    ("read", "d.jsonl", "-o", "d.jsonl"),
    ("read", "d.jsonl", "--as", "bailian", "-o", "d.jsonl"),
    ("simulate", "d.jsonl", "-o", "d.jsonl"),
    ("replay", "d.jsonl", "--engine", "http://127.0.0.1:9", "-o", "d.jsonl"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_read_is_not_written_over(command: tuple[str, ...], tmp_path: Path) -> None:
    log = write_log(tmp_path / "d.jsonl", requests=20)
    (tmp_path / "symbolic").symlink_to("d.jsonl")
    (tmp_path / "hard").hardlink_to(log)
    before, there = log.read_bytes(), set(tmp_path.iterdir())
    ran = preheat(*command, cwd=tmp_path)
    assert ran.returncode == 2
    assert command[-2] in one_line(ran)
    assert log.read_bytes() == before
    assert set(tmp_path.iterdir()) == there


def test_a_profile_may_be_added_to_in_place(tmp_path: Path) -> None:
    write_log(tmp_path / "d.jsonl", requests=20)
    for _ in range(2):
        paths = ["p.json.zst"] if (tmp_path / "p.json.zst").exists() else []
        ran = preheat("mine", *paths, "d.jsonl", "-o", "p.json.zst", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
    assert load(tmp_path / "p.json.zst", Profile).requests == 40
    ran = preheat("merge", "p.json.zst", "p.json.zst", "-o", "p.json.zst", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert load(tmp_path / "p.json.zst", Profile).requests == 80
    ran = preheat("mine", "p.json.zst", "d.jsonl", "-o", "x", "--report", "p.json.zst", cwd=tmp_path)
    assert ran.returncode == 2
    assert "--report" in one_line(ran)
    ran = preheat("plan", "p.json.zst", "-o", "p.json.zst", cwd=tmp_path)
    assert ran.returncode == 2
    assert load(tmp_path / "p.json.zst", Profile).requests == 80


def test_devices_take_any_number_of_results(tmp_path: Path) -> None:
    write_log(tmp_path / "d.jsonl", requests=20)
    ran = preheat("mine", "d.jsonl", "-o", "/dev/null", "--report", "/dev/null", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
