"""What a report says of the requests in passing: first and last time, how many lack text, and what is odd about them
(ids that came before, times that go back, mixed clocks)."""

from __future__ import annotations

import xxhash

from preheat.records.request import ReadReport, Request

REMEMBERED_IDS = 1 << 18
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
        self._before_s = float("-inf")

    def look(self, request: Request, record: object) -> None:
        """Count what is odd about one request; ``record`` is what it was read from."""
        report, time_s = self._report, request.time_s
        if time_s is not None:
            if report.first_s is None or report.last_s is None:
                report.first_s = report.last_s = time_s
            elif time_s > report.last_s:
                report.last_s = time_s
            elif time_s < report.first_s:
                report.first_s = time_s
            if time_s < self._before_s:
                report.note(BACK)
            self._before_s = time_s
        if not request.messages and request.prompt is None:
            report.without_text += 1
        if request.truncated:
            report.truncated += 1
        if request.id is not request.source and request.id != request.source:
            self._look_for(request.id, record)

    def _look_for(self, ident: str, record: object) -> None:
        digest = xxhash.xxh3_64_intdigest(record) if isinstance(record, bytes) else -1
        before = self._seen.get(key := hash(ident))
        if before is not None:
            self._report.note(TWICE if before == digest >= 0 else AGAIN)
        elif len(self._seen) < REMEMBERED_IDS:
            self._seen[key] = digest

    def end(self) -> None:
        """What only the whole log shows."""
        report = self._report
        if len(report.time_units) > 1:
            report.noted[UNITS] = sum(report.time_units.values()) - max(report.time_units.values())
        first_s, last_s = report.first_s, report.last_s
        if first_s is not None and last_s is not None and 0 <= first_s < _RELATIVE_S and last_s > _EPOCH_S:
            report.note(CLOCKS)
