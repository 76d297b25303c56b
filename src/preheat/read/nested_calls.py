"""Calls that were seen twice: by two instrumentations, one around the other, or as an SDK's outer and inner span."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

AROUND = "a span around a model call that has its own span"


class Seen(msgspec.Struct, frozen=True):
    """A call with a prompt, as a trace shows it; ``ident`` and ``parent`` name spans, times are in seconds."""

    trace: str | None
    ident: str | None
    parent: str | None
    start_s: float | None
    end_s: float | None


def around_others(calls: Sequence[Seen | None]) -> set[int]:
    """Which of ``calls`` are only the outer view of another one.

    A model call does not consist of model calls: where one lies within another (its span is the child and runs inside
    it), the outer one was noted by an SDK or a gateway, and only the inner one reached an engine. A child that begins
    after the outer one's end is a call of its own.
    """
    places = {(call.trace, call.ident): place for place, call in enumerate(calls) if call and call.ident}
    outer: set[int] = set()
    for call in calls:
        place = places.get((call.trace, call.parent)) if call and call.parent else None
        if call is not None and place is not None and call.ident != call.parent and _within(call, calls[place]):
            outer.add(place)
    return outer


def _within(inner: Seen, outer: Seen | None) -> bool:
    if outer is None:
        return False
    if inner.start_s is None or outer.start_s is None or outer.end_s is None:
        return True
    return outer.start_s - 1e-3 <= inner.start_s <= outer.end_s
