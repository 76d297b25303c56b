"""What reading notes of a log, and which files it could not read to their end: said by every command that reads one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from command import one_line, preheat, write_log

COMMANDS = (("read",), ("mine", "-o", "p.json"), ("mine", "--until", "30m", "-o", "p.json"), ("simulate",))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_clocks_and_repeated_records_are_noted(command: tuple[str, ...], tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", requests=40)
    lines = log.read_text().splitlines()
    later = {**json.loads(lines[0]), "timestamp": 1_764_000_000.0, "request_id": "late"}
    log.write_text("\n".join([*lines, json.dumps(later), lines[3]]))
    ran = preheat(command[0], "log.jsonl", *command[1:], cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "noted: times in two clocks" in ran.stdout
    assert "noted: records that came before, word for word and with their id" in ran.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_damaged_file_among_others_costs_its_rest(command: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "a.jsonl", requests=40)
    whole = write_log(tmp_path / "whole.jsonl", requests=400, seed=2).read_bytes()
    packed = gzip.compress(whole)
    (folder / "b.jsonl.gz").write_bytes(packed[:-200])
    (folder / "c.jsonl.gz").write_bytes(packed[:12])
    ran = preheat(command[0], "logs", *command[1:], cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "the rest of a truncated gzip file" in ran.stdout
    assert "logs/b.jsonl.gz:" in ran.stdout
    assert "logs/c.jsonl.gz" in ran.stdout
    alone = preheat(command[0], "logs/b.jsonl.gz", *command[1:], cwd=tmp_path)
    assert alone.returncode == 2
    assert "is a truncated gzip file" in one_line(alone)


def test_what_comes_before_the_damage_is_kept(tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", requests=40)
    whole = write_log(tmp_path / "whole.jsonl", requests=400, seed=2).read_bytes()
    (tmp_path / "whole.jsonl").unlink()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(whole, compresslevel=0)[: len(whole) // 2])
    ran = preheat("read", ".", "--json", cwd=tmp_path)
    report = json.loads(ran.stdout)
    assert 40 + 150 < report["requests"] <= 40 + 200
    assert report["skipped"] == {"the rest of a truncated gzip file": 1}
    assert report["quarantine"] == [[f"b.jsonl.gz:{report['requests'] - 40 + 1}", "the rest of a truncated gzip file"]]
