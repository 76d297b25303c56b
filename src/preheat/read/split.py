"""A log cut in two by time: what is learnt from, and what is replayed. Nothing is ever in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from preheat.errors import BadInput
from preheat.files.locate import locate
from preheat.read.reader import read_requests
from preheat.records.request import ReadReport, Request
from preheat.records.units import parse_time, show_moment, show_seconds

_LAST_S = 1e-3


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """``until_s``: learn from before; replay ``[until_s, until_s + window_s)``. In the log's own clock."""

    start_s: float
    until_s: float
    window_s: float


def timed(requests: Iterable[Request]) -> Iterator[Request]:
    """Requests with a time; where a log gives none, they are taken to come one second apart, in the log's order."""
    for number, request in enumerate(requests):
        yield request if request.time_s is not None else msgspec.structs.replace(request, time_s=float(number))


def find_cut(
    paths: list[str],
    until: str | None,
    window_s: float,
    format: str | None = None,
    watch: Callable[[Iterator[Request]], Iterator[Request]] = iter,
) -> Cut:
    """Where to cut. Without ``until``, the last ``window_s`` of the log are replayed, or its last quarter where it is
    shorter than that; the log is then scanned once more. What is read passes through ``watch``, which may end it.

    Raises :class:`BadInput` for a log that cannot be read, or all of which is at one moment.
    """
    if until is not None:
        start_s = _start_s(paths, format, watch)
        return Cut(start_s=start_s, until_s=parse_time(until, start_s), window_s=window_s)
    start_s, end_s = float("inf"), float("-inf")
    for request in timed(watch(read_requests(paths, format=format, report=ReadReport()))):
        time_s = request.time_s or 0.0
        start_s, end_s = min(start_s, time_s), max(end_s, time_s)
    if end_s <= start_s:
        raise BadInput(
            f"all requests of the log are at one moment ({show_moment(start_s)}): there is no before and after",
            "give a longer log",
        )
    if end_s - start_s <= window_s:
        window_s = (end_s - start_s) / 4
    until_s = min(end_s, end_s - window_s + _LAST_S)  # the last request is in the window
    return Cut(start_s=start_s, until_s=until_s, window_s=window_s)


def _start_s(paths: list[str], format: str | None, watch: Callable[[Iterator[Request]], Iterator[Request]]) -> float:
    """The earliest of the files' first times. A file among several that is no log is passed over, as when reading."""
    starts: list[float] = []
    refused: BadInput | None = None
    for path in locate(paths):
        try:
            first = next(timed(watch(read_requests([path], format=format, report=ReadReport()))))
        except BadInput as error:
            refused = error
        else:
            starts.append(first.time_s or 0.0)
    if not starts and refused is not None:
        raise refused
    return min(starts, default=0.0)


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
            after = f"the {show_seconds(cut.window_s)} after the cut at {show_moment(cut.until_s)}"
            raise BadInput(
                f"the log holds no request in {after}",
                "choose another --until or a longer --window",
            )
