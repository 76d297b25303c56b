"""A log cut in two by time: what is learnt from, and what is replayed. Nothing is ever in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from preheat.errors import BadInput
from preheat.files.locate import locate
from preheat.read.reader import read_requests
from preheat.records.request import ReadReport, Request
from preheat.records.units import parse_time, show_seconds


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """``until_s``: learn from before; replay ``[until_s, until_s + window_s)``. In the log's own clock."""

    start_s: float
    until_s: float
    window_s: float


def timed(requests: Iterable[Request]) -> Iterator[Request]:
    """Requests with a time; where a log gives none, they are taken to come one second apart, in the log's order."""
    for number, request in enumerate(requests):
        yield request if request.time_s is not None else msgspec.structs.replace(request, time_s=float(number))


def find_cut(paths: list[str], until: str | None, window_s: float, format: str | None = None) -> Cut:
    """Where to cut. Without ``until``, the last ``window_s`` of the log are replayed (the log is scanned once more)."""
    if until is not None:
        starts = []
        for path in locate(paths):
            first = next(timed(read_requests([path], format=format, report=ReadReport())), None)
            if first is not None and first.time_s is not None:
                starts.append(first.time_s)
        start_s = min(starts, default=0.0)
        return Cut(start_s=start_s, until_s=parse_time(until, start_s), window_s=window_s)
    times = [request.time_s or 0.0 for request in timed(read_requests(paths, format=format, report=ReadReport()))]
    start_s, end_s = min(times), max(times)
    if end_s - start_s <= window_s:
        window_s = (end_s - start_s) / 4
    return Cut(start_s=start_s, until_s=end_s - window_s, window_s=window_s)


class Split:
    """Feeds the miner what lies before the cut and keeps what lies in the window."""

    def __init__(self, requests: Iterable[Request], cut: Cut) -> None:
        self._requests = requests
        self._cut = cut
        self.later: list[Request] = []

    def learnt(self) -> Iterator[Request]:
        """Requests before the cut. Once it is exhausted, :attr:`later` holds the window, in order of time."""
        cut = self._cut
        for request in timed(self._requests):
            time_s = request.time_s or 0.0
            if time_s < cut.until_s:
                yield request
            elif time_s < cut.until_s + cut.window_s:
                self.later.append(request)
        self.later.sort(key=lambda request: request.time_s or 0.0)
        if not self.later:
            raise BadInput(
                f"the log holds no request in the {show_seconds(cut.window_s)} after the cut at {cut.until_s:g} s",
                "choose another --until or a longer --window",
            )
