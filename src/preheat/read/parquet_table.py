"""Parquet: a table as in CSV, or records of a JSON format that were stored as nested columns.

A row with a nested column (``conversations``, ``hash_ids``, ``attributes``...) is first offered, as JSON, to the JSON
formats; what none of them takes is recognised by its columns' names. Needs ``preheat[parquet]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import msgspec

from preheat.read.columns import refusal_of, requests_in_row
from preheat.read.parquet_framing import PARQUET_ROWS, Row
from preheat.read.unreadable import MISSHAPEN
from preheat.records.request import ReadReport, Request

NAME = "parquet"
_encode = msgspec.json.Encoder().encode


class _JSONReader(Protocol):
    def refusal(self, record: bytes) -> str | None: ...
    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]: ...


class ParquetTable:
    """See the module."""

    name = NAME
    framing = PARQUET_ROWS

    def __init__(self, nested: Sequence[_JSONReader]) -> None:
        self._nested = nested

    def refusal(self, record: Row) -> str | None:
        return None if self._taker(_said(record)) is not None else refusal_of(tuple(record))

    def requests(self, record: Row, where: str, report: ReadReport) -> Iterable[Request]:
        said = _said(record)
        taker = self._taker(said)
        return requests_in_row(record, where, report) if taker is None else taker.requests(_encode(said), where, report)

    def _taker(self, said: dict[str, Any]) -> _JSONReader | None:
        if not any(isinstance(value, list | dict) for value in said.values()):
            return None
        record = _encode(said)
        return next((reader for reader in self._nested if _takes(reader, record)), None)


def _takes(reader: _JSONReader, record: bytes) -> bool:
    try:
        return reader.refusal(record) is None
    except MISSHAPEN:
        return False


def _said(row: Row) -> dict[str, Any]:
    """Without what is null: a column is there for all rows, a field only where it is said."""
    return {name: value for name, value in row.items() if value is not None}
