"""Logs in pieces: every record once, in order, and no piece too large."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.distributed.pieces import Piece, pieces
from preheat.read.framing import UnknownFormat
from preheat.read.reader import framed
from preheat.records.request import ReadReport

LINE = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([LINE, LINE + b" " * 300, b"[", b'{"torn": ', b"", b"[" + LINE + b"," + LINE + b"]"])),
    st.integers(1, 500),
)
def test_pieces_hold_every_record_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], piece_bytes: int
) -> None:
    file = str(tmp_path_factory.getbasetemp() / "log.jsonl")
    Path(file).write_bytes(b"\n".join([LINE, *lines]))
    whole, report = ReadReport(files=1), ReadReport()
    with framed(file, None, whole, alone=True) as (reader, found):
        records = list(found)
    assert reader is not None
    cut = list(pieces([file], None, report, piece_bytes))
    assert [each for piece in cut for each in piece.found or ()] == records
    assert {piece.reader for piece in cut} == {reader.name}
    assert report == whole
    for piece in cut:
        assert piece.found is not None
        assert len(piece.found) == 1 or sum(len(record) for _, record in piece.found) <= piece_bytes


def test_the_log_is_read_as_its_pieces_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes((LINE + b"\n") * 100_000)
    report = ReadReport()
    next(pieces([str(file)], None, report, 1_000))
    assert report.bytes < file.stat().st_size / 2


def test_rows_are_bounded_too(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("timestamp,prompt\n" + "".join(f"{n},{'x' * 200}\n" for n in range(50)))
    cut = list(pieces([str(file)], None, ReadReport(), 2_000))
    assert len(cut) > 5
    assert sum(len(piece.found or ()) for piece in cut) == 50


def test_what_a_piece_is_called() -> None:
    found = [("a.jsonl:3", b""), ("a.jsonl:9", b"")]
    assert Piece("a.jsonl", None, "x", found).named == "a.jsonl:3 to 9"
    assert Piece("a.jsonl", None, "x", found[:1]).named == "a.jsonl:3"
    assert Piece("s3://key:secret@store/b.jsonl?sig=secret", None).named == "s3://store/b.jsonl"


def test_objects_go_whole_where_there_are_several_and_files_never() -> None:
    cut = list(pieces(["s3://store/a.jsonl", "gs://store/b.jsonl"], "csv", ReadReport(), 10))
    assert cut == [Piece("s3://store/a.jsonl", "csv"), Piece("gs://store/b.jsonl", "csv")]


def test_a_file_of_unknown_format_is_counted_among_others_and_refused_alone(tmp_path: Path) -> None:
    odd, log = tmp_path / "odd.jsonl", tmp_path / "log.jsonl"
    odd.write_bytes(b'{"nothing": "of ours"}\n')
    log.write_bytes(LINE)
    report = ReadReport()
    assert [piece.file for piece in pieces([str(odd), str(log)], None, report, 10)] == [str(log)]
    assert (report.files, report.skipped) == (2, {"unknown format": 1})
    with pytest.raises(UnknownFormat):
        list(pieces([str(odd)], None, ReadReport(), 10))
