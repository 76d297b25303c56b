"""Whatever bytes come in, reading gives requests, a counted reason or one clear error; never anything else."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.reader_samples import SAMPLES
from preheat.errors import BadInput
from preheat.read.columns import ROLES, refusal_of, requests_in_row
from preheat.read.csv_framing import CSV_ROWS, dialect_of
from preheat.read.reader import read_requests
from preheat.read.unreadable import MISSHAPEN, Unreadable
from preheat.records.request import ReadReport

_quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
_cells = st.sampled_from(["", "x", "1", "1e400", "-1", "[{", '[{"role":"user","content":"x"}]', "{}", '{"prompt":"x"}'])
_values = _cells | st.none() | st.integers() | st.floats() | st.lists(st.integers(), max_size=2) | st.binary(max_size=3)


def _accounted(path: Path, format: str | None = None) -> ReadReport:
    report, read, said = ReadReport(), 0, "fine"
    try:
        for _ in read_requests([str(path)], format=format, report=report):
            read += 1
    except BadInput as error:
        said = error.message
    assert said.strip()
    assert "\n" not in said
    assert read == report.requests == sum(report.formats.values())
    return report


@pytest.mark.parametrize("format", SAMPLES)
@_quick
@given(seed=st.integers(0, 2**32), strikes=st.integers(1, 8))
def test_damaged_samples(tmp_path: Path, format: str, seed: int, strikes: int) -> None:
    chance, data = random.Random(seed), bytearray(SAMPLES[format].write(range(4)))
    for _ in range(strikes):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = chance.choice([b'"', b"\n", b"\0", b",", b"\\", b"{", b"]", b"\xff", b'""'])
        else:
            data[at:at] = data[: chance.randrange(60)]
        data = data or bytearray(b"x")
    (tmp_path / "log").write_bytes(data)
    _accounted(tmp_path / "log")
    _accounted(tmp_path / "log", format)


@_quick
@given(data=st.binary(max_size=200))
def test_arbitrary_bytes(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "log").write_bytes(data)
    for format in (None, "csv", "openai-jsonl", "parquet"):
        _accounted(tmp_path / "log", format)


@pytest.mark.parametrize("framed_as", SAMPLES)
@pytest.mark.parametrize("format", SAMPLES)
def test_a_format_forced_on_another(tmp_path: Path, format: str, framed_as: str) -> None:
    (tmp_path / "log").write_bytes(SAMPLES[framed_as].write(range(2)))
    _accounted(tmp_path / "log", format)


@_quick
@given(row=st.dictionaries(st.sampled_from([name for names in ROLES.values() for name in names]), _values, max_size=6))
def test_any_row(row: dict[str, Any]) -> None:
    refusal_of(tuple(row))
    try:
        requests = requests_in_row(row, "log:2", ReadReport())
    except (Unreadable, *MISSHAPEN):
        return
    assert all(request.id for request in requests)


@_quick
@given(
    rows=st.lists(st.lists(st.text("ab,\"\n;'\\ é", max_size=6), min_size=3, max_size=3), max_size=6),
    delimiter=st.sampled_from(",;\t|"),
)
def test_what_csv_writes_is_read_back(rows: list[list[str]], delimiter: str) -> None:
    import csv

    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [["prompt", "model", "tenant"], *rows]
    )
    data = text.getvalue().encode()
    dialect = dialect_of(data)
    assert dialect is not None
    assert dialect.delimiter == delimiter
    if dialect.escape is not None:  # rows that cannot be told from those with an escape
        return
    report = ReadReport()
    read = [list(row.values()) for _, row in CSV_ROWS.records(io.BufferedReader(io.BytesIO(data)), "log", report)]  # type: ignore[arg-type]
    assert read == rows
    assert report.skipped == {}
