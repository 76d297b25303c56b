"""``LOG#REQUEST``: the one request of a log that a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preheat.errors import BadInput

if TYPE_CHECKING:
    from preheat.records.request import Request

_NAMED = 3


def find_request(which: str, format: str | None) -> Request:
    """The request that ``LOG#REQUEST`` names: by its id, else by its line (``LINE`` or ``FILE:LINE``).

    Both parts may hold ``#``: the longest beginning that is a log is one. The log is read to its end, to tell whether
    another request is named so too. Raises :class:`BadInput`, also for that.
    """
    from preheat.read.reader import read_requests
    from preheat.records.request import ReadReport

    log, name = _apart(which)
    report = ReadReport()
    by_id, by_line = _Found(), _Found()
    for request in read_requests([log], format=format, report=report):
        if request.id == name:
            by_id.add(request)
        if request.source == name or (name.isdigit() and request.source.endswith(f":{name}")):
            by_line.add(request)
    found = by_id if by_id.count else by_line
    if found.count == 1:
        return found.first[0]
    if found.count:
        raise _ambiguous(name, found, is_id=found is by_id)
    skipped = f", and {sum(report.skipped.values())} lines were skipped" if report.skipped else ""
    raise BadInput(
        f"{log} has no request {name[:80]!r}: there are {report.requests}{skipped}",
        "preheat read -o - prints their ids",
    )


class _Found:
    """How many requests are named so, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Request] = []

    def add(self, request: Request) -> None:
        self.count += 1
        if self.count <= _NAMED:
            self.first.append(request)


def _ambiguous(name: str, found: _Found, *, is_id: bool) -> BadInput:
    if is_id:
        sources = [each.source if name.isdigit() else each.source.rpartition(":")[2] for each in found.first]
        lines = ", ".join(f"#{source}" for source in dict.fromkeys(sources))
        return BadInput(f"{found.count} requests have the id {name[:80]!r}", f"use #LINE: the first are {lines}")
    sources = list(dict.fromkeys(each.source for each in found.first))
    ids = ", ".join(f"#{each.id[:80]}" if len(sources) == 1 else f"#{each.source}" for each in found.first)
    return BadInput(f"{found.count} requests are at line {name[:80]!r}", f"say which: the first are {ids}")


def _apart(which: str) -> tuple[str, str]:
    """The log and the name of the request."""
    from preheat.files.locate import locate

    places = [place for place, sign in enumerate(which) if sign == "#" and which[:place] and which[place + 1 :]]
    if not places:
        raise BadInput(f"{which[:80]!r} names no request", "write LOG#ID or LOG#LINE, in quotes")
    for place in reversed(places[1:]):
        try:
            locate([which[:place]])
        except BadInput:
            continue
        return which[:place], which[place + 1 :]
    return which[: places[0]], which[places[0] + 1 :]
