"""What is read all the same, yet is odd, is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.read import oddities
from preheat.read.oddities import AGAIN, BACK, CLOCKS, TWICE, UNITS
from preheat.read.reader import read_requests
from preheat.records.request import ReadReport, Request

CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "x"}]}


def _read(path: Path, *records: dict[str, Any]) -> tuple[list[Request], ReadReport]:
    path.write_text("\n".join(map(json.dumps, records)))
    report = ReadReport()
    return list(read_requests([str(path)], report=report)), report


@pytest.mark.parametrize("few", [0, 1 << 14])
def test_ids_that_come_again_are_kept_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(oddities, "_FEW", few)
    first, other = {**CHAT, "id": "a"}, {"prompt": "y", "id": "a"}
    requests, report = _read(tmp_path / "log", first, {**CHAT, "id": "b"}, first, other, CHAT, CHAT)
    assert len(requests) == 6
    assert report.noted == {TWICE: 1, AGAIN: 1}


def test_memory_for_ids_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oddities, "REMEMBERED_IDS", 3)
    records = [{**CHAT, "id": f"r{number}"} for number in range(9)]
    _, report = _read(tmp_path / "log", records[0], records[0], *records, records[8])
    assert report.noted == {TWICE: 2}


def test_times_that_go_back(tmp_path: Path) -> None:
    times = [5.0, 3.0, 4.0, 4.0, 9.0, 1.0]
    requests, report = _read(tmp_path / "log", *({**CHAT, "timestamp": time} for time in times))
    assert [request.time_s for request in requests] == times
    assert (report.first_s, report.last_s) == (1.0, 9.0)
    assert report.noted == {BACK: 2}


def test_files_of_a_log_need_not_be_in_order(tmp_path: Path) -> None:
    for name, time in (("a", 9.0), ("b", 2.0)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**CHAT, "timestamp": time}))
    report = ReadReport()
    list(read_requests([str(tmp_path)], report=report))
    assert (report.first_s, report.last_s, report.noted) == (2.0, 9.0, {})


def test_one_moment_in_all_units_and_a_remark_that_they_are_mixed(tmp_path: Path) -> None:
    written = [1.7e9, 1.7e12, 1.7e15, 1.7e18, "1700000000", "2023-11-14T22:13:20Z", "2023-11-15 00:13:20+02:00"]
    requests, report = _read(tmp_path / "log", *({**CHAT, "timestamp": time} for time in written))
    assert {request.time_s for request in requests} == {1.7e9}
    assert report.time_units == {"s": 2, "ms": 1, "us": 1, "ns": 1, "ISO 8601": 2}
    assert report.noted == {UNITS: 5}


def test_a_clock_since_1970_and_one_since_the_start(tmp_path: Path) -> None:
    _, report = _read(tmp_path / "log", *({**CHAT, "timestamp": time} for time in (0.5, 1.7e9)))
    assert report.noted == {CLOCKS: 1}
    _, report = _read(tmp_path / "log", *({**CHAT, "timestamp": time} for time in (0.5, 3e6)))
    assert report.noted == {}


def test_the_report_is_true_where_reading_ends_early(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("\n".join(json.dumps({**CHAT, "timestamp": time}) for time in (1.0, 2.0, 3.0)))
    report = ReadReport()
    reading = read_requests([str(tmp_path / "log")], report=report)
    next(reading), next(reading)
    reading.close()
    assert (report.requests, report.formats, report.first_s, report.last_s) == (2, {"openai-jsonl": 2}, 1.0, 2.0)


def test_what_has_no_text_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"timestamp": 1, "input_length": 5, "output_length": 1, "hash_ids": [1]}')
    (tmp_path / "b.jsonl").write_text(json.dumps(CHAT))
    report = ReadReport()
    list(read_requests([str(tmp_path)], report=report))
    assert (report.requests, report.without_text) == (2, 1)
