"""What a report says of the requests in passing: first and last time, how many lack text, and what is odd about them
(ids that came before, times that go back, mixed clocks)."""

from __future__ import annotations

import xxhash

from preheat.records.request import ReadReport, Request

REMEMBERED_IDS = 1 << 17
"""How many ids are remembered, to see them come again; of a log with more, the first ones."""
BACK = "times that go back"
AGAIN = "ids that came before, of another record"
TWICE = "records that came before, word for word and with their id"
UNITS = "times written in several units"
CLOCKS = "times in two clocks: some since 1970, some since the log's start"
_EPOCH_S, _RELATIVE_S = 1e9, 1e8
"""From 2001 on; and three years, which no log is long."""


class Oddities:
    """Looks at each request in passing, and keeps the report's first and last time. Nothing is left out for it."""

    def __init__(self, report: ReadReport) -> None:
        self._report = report
        self._seen: dict[int, int] = {}
        self._first_s: float | None = report.first_s
        self._last_s = float("-inf") if report.last_s is None else report.last_s
        self._before_s = float("-inf")

    def look(self, request: Request, record: object) -> None:
        """Count what is odd about one request; ``record`` is what it was read from."""
        time_s = request.time_s
        if time_s is not None:
            if time_s > self._last_s:
                self._last_s = time_s
                if self._first_s is None:
                    self._first_s = time_s
            elif time_s < self._before_s:
                self._report.note(BACK)
            if self._first_s is not None and time_s < self._first_s:
                self._first_s = time_s
            self._before_s = time_s
        if not request.messages and request.prompt is None:
            self._report.without_text += 1
        if request.truncated:
            self._report.truncated += 1
        ident = request.id
        if ident is not request.source:
            self._look_for(ident, record)

    def _look_for(self, ident: str, record: object) -> None:
        digest = xxhash.xxh3_64_intdigest(record) if isinstance(record, bytes) else id(record)
        seen, key = self._seen, hash(ident)
        before = seen.setdefault(key, digest) if len(seen) < REMEMBERED_IDS else seen.get(key, digest)
        if before is not digest:
            self._report.note(TWICE if before == digest else AGAIN)

    def next_file(self) -> None:
        """Files of one log need not stand in the order of their times."""
        self._before_s = float("-inf")

    def end(self) -> None:
        """What is told at the end of reading, however early that is."""
        report = self._report
        if self._first_s is not None:
            report.first_s, report.last_s = self._first_s, self._last_s
        if len(report.time_units) > 1:
            report.noted[UNITS] = sum(report.time_units.values()) - max(report.time_units.values())
        first_s, last_s = report.first_s, report.last_s
        if first_s is not None and last_s is not None and 0 <= first_s < _RELATIVE_S and last_s > _EPOCH_S:
            report.note(CLOCKS)
