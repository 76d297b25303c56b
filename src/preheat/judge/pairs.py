"""Pairing: the same request on the cold and on the warmed replica."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from preheat.records.run import ReplayRun, RequestRun

Key = tuple[str, int]
"""A request's id and, should a log repeat an id, its how-manieth occurrence."""


class Pair(NamedTuple):
    """One request in two runs, having got a first token in both."""

    key: Key
    cold: RequestRun
    warm: RequestRun


def keyed(run: ReplayRun) -> dict[Key, RequestRun]:
    """All requests of a run by :data:`Key`, in the order replayed."""
    seen: Counter[str] = Counter()
    table: dict[Key, RequestRun] = {}
    for request in run.requests:
        table[request.id, seen[request.id]] = request
        seen[request.id] += 1
    return table


def got_token(request: RequestRun) -> bool:
    """Whether a request succeeded: no error, and a time to its first token."""
    return request.error is None and request.ttft_ms is not None


def paired(cold: ReplayRun, warm: ReplayRun) -> list[Pair]:
    """Requests that succeeded in both runs, each with itself, in the order of ``cold``."""
    others = keyed(warm)
    return [
        Pair(key, request, others[key])
        for key, request in keyed(cold).items()
        if key in others and got_token(request) and got_token(others[key])
    ]


def first_per_item(cold: ReplayRun, warm: ReplayRun, share: float) -> dict[Key, str]:
    """The first request (by due time) of each plan item that makes up at least ``share`` of its prompt → that item.

    First over all requests of the item, whatever its share of them and failed ones included: a later one would find
    the item warm in both runs. An item whose first request has more of its own than ``share`` allows is left out.
    """
    others = keyed(warm)
    seen: set[str] = set()
    found: dict[Key, str] = {}
    for key, request in sorted(keyed(cold).items(), key=lambda entry: entry[1].due_s):
        for said in (others.get(key), request):
            if said is not None and said.item is not None:
                if said.item not in seen and said.item_share >= share:
                    found[key] = said.item
                seen.add(said.item)
                break
    return found
