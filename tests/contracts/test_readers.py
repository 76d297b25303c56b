"""What every log format must do, run over each row of ``FORMATS``."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from contracts.reader_samples import NO_REQUESTS, SAMPLES
from preheat.errors import BadInput
from preheat.read import lines
from preheat.read.reader import FORMATS, JSON_FORMATS, read_requests
from preheat.records.request import ReadReport, Request

NOT_A_REQUEST = b'{"level": "info", "msg": "listening"}'
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
ON_LINES = [format for format, sample in SAMPLES.items() if sample.record is not None]
IN_ROWS = [format for format, sample in SAMPLES.items() if sample.first == 2]

formats = pytest.mark.parametrize("format", SAMPLES)
line_formats = pytest.mark.parametrize("format", ON_LINES)
row_formats = pytest.mark.parametrize("format", IN_ROWS)


def _lines(format: str, count: int = 5) -> list[bytes]:
    return SAMPLES[format].write(range(count)).splitlines()


def _record(format: str, number: int) -> dict[str, Any]:
    record = SAMPLES[format].record
    assert record is not None
    return record(number)


def _read(*paths: Path | str, format: str | None = None) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    return list(read_requests([str(path) for path in paths], format=format, report=report)), report


def _without_source(requests: list[Request]) -> list[Request]:
    return [msgspec.structs.replace(request, id="", source="") for request in requests]


def test_every_format_has_a_sample_here() -> None:
    assert SAMPLES.keys() | NO_REQUESTS.keys() == FORMATS.keys()
    assert all(name == reader.name for name, reader in FORMATS.items())


@formats
def test_order_ids_times_and_counts(tmp_path: Path, format: str) -> None:
    sample = SAMPLES[format]
    (tmp_path / "log").write_bytes(data := sample.write(range(5)))
    requests, report = _read(tmp_path / "log")
    assert [sample.number(request) for request in requests] == list(range(5))
    times = [None if sample.time_s is None else sample.time_s + number for number in range(5)]
    assert [request.time_s for request in requests] == times
    assert len({request.id for request in requests}) == 5
    places = [request.source.rpartition(":") for request in requests]
    assert {place for place, _, _ in places} == {str(tmp_path / "log")}
    lines = [int(number) for _, _, number in places]
    assert lines[0] == sample.first
    assert lines == sorted(set(lines))
    assert report.formats == {format: 5}
    assert (report.files, report.requests, report.bytes) == (1, 5, len(data))
    assert (report.skipped, report.noted) == ({}, {})
    assert (report.first_s, report.last_s) == (times[0], times[-1])


@formats
def test_what_is_not_said_stays_unsaid(tmp_path: Path, format: str) -> None:
    (tmp_path / "log").write_bytes(SAMPLES[format].write([0]))
    (request,), _ = _read(tmp_path / "log")
    nothing = Request(id="")
    said = {name for name in Request.__struct_fields__ if getattr(request, name) != getattr(nothing, name)}
    assert said == SAMPLES[format].said - ({"time_s"} if request.time_s is None else set())


@formats
def test_the_answer_is_never_part_of_the_prompt(tmp_path: Path, format: str) -> None:
    sample = SAMPLES[format]
    data = sample.write([0])
    if sample.record is not None:
        answer = {"choices": [{"message": {"role": "assistant", "content": "ANSWER"}}]}
        data = json.dumps({**sample.record(0), "response": answer}).encode()
    (tmp_path / "log").write_bytes(data)
    (request,), _ = _read(tmp_path / "log")
    assert "ANSWER" not in str(request)
    assert len(request.messages) in (0, 2)


@pytest.mark.parametrize("format", NO_REQUESTS)
def test_what_holds_no_requests_is_recognised_and_counted(tmp_path: Path, format: str) -> None:
    (tmp_path / "log").write_bytes(NO_REQUESTS[format])
    report = ReadReport()
    with pytest.raises(BadInput, match=r"no requests in .*skipped 2 x .*not a request"):
        list(read_requests([str(tmp_path / "log")], report=report))
    assert sum(report.skipped.values()) == 2


@line_formats
def test_bad_lines_are_counted_with_their_place_and_reading_goes_on(tmp_path: Path, format: str) -> None:
    good = _lines(format, 3)
    garbled = good[0].replace(b"brief", b"br\xff\xfeef")
    torn, garbled = good[0][:50], garbled if garbled != good[0] else b'{"\xff\xfe'
    written = [torn, good[0], b"", garbled, good[1], NOT_A_REQUEST, b"[1, 2", b"17", good[2], good[2][:-9]]
    (tmp_path / "log").write_bytes(b"\n".join(written))
    requests, report = _read(tmp_path / "log")
    assert len(requests) == report.requests == 3
    assert sum(report.skipped.values()) == len(report.quarantine) == 6
    assert report.skipped["not JSON"] + report.skipped.get("invalid UTF-8", 0) == 4
    assert ("invalid UTF-8" in report.skipped) == (b"brief" in good[0])
    assert [int(where.rpartition(":")[2]) for where, _ in report.quarantine] == [1, 4, 6, 7, 8, 10]


@formats
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("piped", [False, True])
def test_packing_makes_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, packing: str, piped: bool
) -> None:
    plain = SAMPLES[format].write(range(5))
    (tmp_path / "plain").write_bytes(plain)
    (tmp_path / "log").write_bytes(PACKINGS[packing](plain))
    expected, _ = _read(tmp_path / "plain")
    if piped:
        read_end, write_end = os.pipe()
        writer = threading.Thread(target=lambda: os.fdopen(write_end, "wb").write(PACKINGS[packing](plain)))
        writer.start()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(os.fdopen(read_end, "rb")))
    requests, report = _read("-" if piped else tmp_path / "log")
    assert _without_source(requests) == _without_source(expected)
    assert report.formats == {format: 5}
    assert report.bytes == len(plain)


@line_formats
def test_one_pretty_printed_document_is_read_too(tmp_path: Path, format: str) -> None:
    records = [_record(format, number) for number in range(3)]
    (tmp_path / "list.json").write_text(json.dumps(records, indent=2))
    (tmp_path / "one.json").write_text("\ufeff" + json.dumps(records[0], indent=1))
    (tmp_path / "line.json").write_text(json.dumps(records))
    (tmp_path / "several.json").write_text("\n".join(json.dumps(record, indent=4) for record in records))
    names = ("list.json", "one.json", "line.json", "several.json")
    assert [len(_read(tmp_path / name)[0]) for name in names] == [3, 1, 3, 3]
    places = [int(request.source.rpartition(":")[2]) for request in _read(tmp_path / "several.json")[0]]
    length = len(json.dumps(records[0], indent=4).splitlines())
    assert places == [1, 1 + length, 1 + 2 * length]


@line_formats
def test_the_format_may_be_forced(tmp_path: Path, format: str) -> None:
    (tmp_path / "log").write_bytes(b"\n".join([*[NOT_A_REQUEST] * 150, *_lines(format, 2)]))
    with pytest.raises(BadInput, match="of no known format"):
        _read(tmp_path / "log")
    requests, report = _read(tmp_path / "log", format=format)
    assert (len(requests), report.formats) == (2, {format: 2})
    assert sum(report.skipped.values()) == 150
    assert len(report.quarantine) == 100


@formats
def test_forcing_what_it_is_makes_no_difference(tmp_path: Path, format: str) -> None:
    (tmp_path / "log").write_bytes(SAMPLES[format].write(range(3)))
    assert _read(tmp_path / "log", format=format)[0] == _read(tmp_path / "log")[0]


@pytest.mark.parametrize("format", [*ON_LINES, *IN_ROWS])
def test_windows_line_ends_a_mark_and_a_missing_last_end(tmp_path: Path, format: str) -> None:
    plain = SAMPLES[format].write(range(3))
    (tmp_path / "plain").write_bytes(plain)
    (tmp_path / "log").write_bytes(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    assert _without_source(_read(tmp_path / "log")[0]) == _without_source(_read(tmp_path / "plain")[0])


@line_formats
def test_a_line_of_50_mb_is_skipped_and_the_next_is_read(tmp_path: Path, format: str) -> None:
    good = _lines(format, 2)
    with (tmp_path / "log").open("wb") as log:
        log.write(good[0] + b'\n{"messages": "')
        for _ in range(50):
            log.write(b"x" * 1_000_000)
        log.write(b'"}\n' + good[1] + b"\n")
    requests, report = _read(tmp_path / "log")
    assert len(requests) == 2
    assert report.skipped == {"line over 32 MiB": 1}
    assert report.quarantine == [(f"{tmp_path / 'log'}:2", "line over 32 MiB")]
    assert report.lines == 3


@row_formats
def test_bad_rows_are_counted_with_their_place_and_reading_goes_on(tmp_path: Path, format: str) -> None:
    head, *good = _rows(format, 3)
    rows = [head, good[0], b"one cell", b"\xff\xfe" + good[1], b"", good[1], b'"never closed' + good[2], good[2]]
    (tmp_path / "log").write_bytes(b"\n".join(rows) + b"\n")
    requests, report = _read(tmp_path / "log")
    assert [SAMPLES[format].number(request) for request in requests] == [0, 1, 2]
    assert sum(report.skipped.values()) >= 3
    assert report.skipped["invalid UTF-8"] == 1
    assert report.skipped["a CSV row with another number of cells than the header"] >= 1
    assert report.skipped["a CSV row with a quote out of place"] >= 1


def _rows(format: str, count: int) -> list[bytes]:
    """The header, and rows that may have line ends in them."""
    whole = SAMPLES[format].write([])
    return [whole.strip(), *(SAMPLES[format].write([n]).removeprefix(whole).rstrip() for n in range(count))]


def test_a_damaged_parquet_file_is_bad_input(tmp_path: Path) -> None:
    data = SAMPLES["parquet"].write(range(500))
    for damaged in (data[:-9], data[:4], data[: len(data) // 2], data[:100] + bytes(200) + data[300:]):
        (tmp_path / "log").write_bytes(damaged)
        with pytest.raises(BadInput, match=r"log is a damaged Parquet file"):
            _read(tmp_path / "log")


def test_without_its_package_parquet_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(SAMPLES["parquet"].write(range(5)))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match="needs pyarrow") as caught:
        _read(tmp_path / "log")
    assert "preheat[parquet]" in caught.value.remedy


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_overlong_line_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT_BYTES", 3000)
    monkeypatch.setattr(lines, "_CHUNK_BYTES", 512)
    written = _lines("openai-jsonl", 2)
    written.insert(place, b'{"prompt": "' + b"x" * 4000 + b'"}')
    (tmp_path / "log").write_bytes(b"\n".join(written))
    requests, report = _read(tmp_path / "log")
    assert [request.id for request in requests] == ["r0", "r1"]
    assert [where.rpartition(":")[2] for where, _ in report.quarantine] == [str(place + 1)]
    assert report.lines == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_refused_by_its_name_and_passed_over_among_others(tmp_path: Path, encoding: str) -> None:
    line = _lines("openai-jsonl", 1)[0]
    (tmp_path / "a.jsonl").write_bytes(line.decode().encode(encoding))
    with pytest.raises(BadInput, match="is UTF-16") as caught:
        _read(tmp_path / "a.jsonl")
    assert "iconv" in caught.value.remedy
    (tmp_path / "b.jsonl").write_bytes(line)
    requests, report = _read(tmp_path)
    assert len(requests) == 1
    assert report.skipped == {"UTF-16 text": 1}


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b""), b"[]"])
def test_an_empty_log_is_bad_input(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(BadInput, match="no requests in") as caught:
        _read(tmp_path / "log")
    assert str(tmp_path / "log") in caught.value.message


def test_a_log_without_a_request_says_why(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(NOT_A_REQUEST + b"\nnot json")
    with pytest.raises(BadInput, match=r"no requests in .*skipped 1 x neither messages nor a prompt; 1 x not JSON"):
        _read(tmp_path / "log", format="openai-jsonl")


def test_an_unknown_format_says_what_was_tried_and_why_not(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(NOT_A_REQUEST)
    with pytest.raises(BadInput) as caught:
        _read(tmp_path / "log")
    assert f"none of {len(JSON_FORMATS)} takes line 1" in caught.value.message
    assert "openai-jsonl: neither messages nor a prompt" in caught.value.message
    assert "--format" in caught.value.remedy


def test_forcing_a_format_that_there_is_not_lists_those_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"{}")
    with pytest.raises(BadInput, match="there is no format 'orc'") as caught:
        read_requests([str(tmp_path / "log")], format="orc", report=ReadReport())
    assert "otlp-json, openai-jsonl" in caught.value.remedy


def test_several_files_of_several_formats_are_one_log(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(_lines("openai-jsonl", 2)))
    (tmp_path / "b.json").write_bytes(b"\n".join(_lines("otlp-json", 3)))
    (tmp_path / "c.json").write_text('{"name": "not-a-log"}')
    (tmp_path / "d.log").write_text("")
    requests, report = _read(tmp_path)
    assert len(requests) == 5
    assert report.formats == {"openai-jsonl": 2, "otlp-json": 3}
    assert report.quarantine == [(str(tmp_path / "c.json"), "unknown format")]
    assert report.files == 4


@pytest.mark.parametrize("packing", ["gz", "xz", "zst"])
def test_a_truncated_file_is_bad_input_after_what_could_be_read(tmp_path: Path, packing: str) -> None:
    packed = PACKINGS[packing](b"\n".join(_lines("openai-jsonl", 20_000)))
    (tmp_path / "log").write_bytes(packed[: len(packed) // 2])
    report = ReadReport()
    with pytest.raises(BadInput, match="truncated") as caught:
        for _ in read_requests([str(tmp_path / "log")], report=report):
            pass
    assert str(tmp_path / "log") in caught.value.message
    assert report.requests > 0
