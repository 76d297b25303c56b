"""ServeGen's files: rates of clients by time window (CSV) and distributions of lengths (JSON Lines).

They say how many requests there were and how long, but hold no request. They are recognised, and every row is counted
as left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from preheat.read.csv_framing import CSV_ROWS, Row
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.openai_odd import decode_object
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

_RATES = frozenset({"client", "timestamp", "rate", "cv", "pattern"})
_LENGTHS = frozenset({"client", "window", "input_tokens"})


class ServeGenRates:
    """``client, timestamp, rate, cv, pattern, param1, param2``."""

    name = "servegen-rates"
    framing = CSV_ROWS

    def refusal(self, record: Row) -> str | None:
        return None if record.keys() >= _RATES else "no rates of clients"

    def requests(self, record: Row, where: str, report: ReadReport) -> Iterable[Request]:
        raise Unreadable("a client's rate in a window (ServeGen), not a request")


class ServeGenLengths:
    """``client, window, input_tokens, output_tokens``, the last two distributions written as text."""

    name = "servegen-lengths"
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            found = decode_object(record)
        except Unreadable as why:
            return why.message
        return None if found.keys() >= _LENGTHS else "no distributions of lengths"

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        raise Unreadable("a client's distribution of lengths (ServeGen), not a request")
