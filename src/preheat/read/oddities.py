"""What a report says of the requests in passing: first and last time, how many lack text, and what is odd about them
(ids that came before, times that go back, mixed clocks)."""

from __future__ import annotations

from array import array

from xxhash import xxh3_64_intdigest

from preheat.records.request import ReadReport, Request

REMEMBERED_IDS = 1 << 20
"""How many ids are kept to see which came again (16 bytes each): a log's first ones."""
_FEW = 1 << 14
"""Fewer are compared without numpy, which takes a tenth of a second to import."""
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
        self._ids = array("q")
        self._digests = array("Q")
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
        if request.id is not request.source and len(self._ids) < REMEMBERED_IDS:
            self._ids.append(hash(request.id))
            self._digests.append(xxh3_64_intdigest(record) if type(record) is bytes else len(self._ids))

    def next_file(self) -> None:
        """Files of one log need not stand in the order of their times."""
        self._before_s = float("-inf")

    def end(self) -> None:
        """What is told at the end of reading, however early that is."""
        report = self._report
        if self._first_s is not None:
            report.first_s, report.last_s = self._first_s, self._last_s
        again, twice = self._came_again()
        for what, count in ((TWICE, twice), (AGAIN, again - twice)):
            if count:
                report.noted[what] = count
        if len(report.time_units) > 1:
            report.noted[UNITS] = sum(report.time_units.values()) - max(report.time_units.values())
        first_s, last_s = report.first_s, report.last_s
        if first_s is not None and last_s is not None and 0 <= first_s < _RELATIVE_S and last_s > _EPOCH_S:
            report.note(CLOCKS)

    def _came_again(self) -> tuple[int, int]:
        """How many ids were there before, and how many of them with the same record. Told at the end, by sorting:
        that takes a third of the time of looking each id up as it comes."""
        if len(self._ids) < 2:
            return 0, 0
        if len(self._ids) < _FEW:
            both = set(zip(self._ids, self._digests, strict=True))
            return len(self._ids) - len(set(self._ids)), len(self._ids) - len(both)
        import numpy

        ids, digests = numpy.frombuffer(self._ids, numpy.uint64), numpy.frombuffer(self._digests, numpy.uint64)
        mixed = ids * numpy.uint64(0x9E3779B97F4A7C15) ^ digests
        return len(ids) - len(numpy.unique(ids)), len(ids) - len(numpy.unique(mixed))
