"""Why a comparison may say nothing about the warm-up: it loaded nothing, or the cold side was not cold."""

from __future__ import annotations

from bisect import bisect_left, insort

from preheat.judge.pairs import got_token
from preheat.records.outcomes import Outcome
from preheat.records.plan import Plan
from preheat.records.run import ReplayRun, RequestRun, WarmRun

SERVED = 0.5
"""From this share of a prefix on it counts as served from the cache."""
FIRST_REQUESTS = 5


def doubts(cold: ReplayRun, warm_run: WarmRun | None, plan: Plan | None) -> list[str]:
    """Every reason not to credit the warm-up with the difference, each a clause; empty where there is none."""
    found = [nothing_loaded(warm_run) if warm_run is not None else "", not_cold(cold, plan)]
    return [reason for reason in found if reason]


def nothing_loaded(run: WarmRun) -> str:
    """Why a warm-up changed nothing: no item LOADED or CLIPPED, and none computed on an engine without a word."""
    if any(
        item.status in (Outcome.LOADED, Outcome.CLIPPED)
        or (item.status is Outcome.UNSUPPORTED and item.computed_tokens > 0)
        for item in run.items
    ):
        return ""
    already = run.counts.get(Outcome.ALREADY.value, 0)
    silent = "so the comparison says nothing about this warm-up"
    if not run.attempted:
        return f"nothing was warmed, {silent}"
    if already == len(run.attempted):
        return f"the warm set was already resident before this warm-up ({already} of {already} items), {silent}"
    counts = ", ".join(f"{count} {name}" for name, count in run.counts.items())
    return f"the warm-up loaded nothing ({counts}), {silent}"


def not_cold(cold: ReplayRun, plan: Plan | None) -> str:
    """Why the cold replica was not cold, or nothing.

    A cold engine has a planned prefix at most as far as earlier requests of the same replay share it (known where the
    plan has texts). Where at least half of the prefixes were there by :data:`SERVED` beyond that at their first
    request, or where the very first request and the first :data:`FIRST_REQUESTS` together were served so, something
    else had filled the cache.
    """
    told = [one for one in sorted(cold.requests, key=lambda one: one.due_s) if _prompt(one)]
    if not told:
        return ""
    asked, served = _first_of_items(told, plan)
    advice = "use a fresh replica or a salted run"
    if served and 2 * served >= asked:
        return (
            f"the cold replica was not cold: {served} of {asked} planned prefixes came from its cache when they were "
            f"first asked for; {advice}"
        )
    first = told[:FIRST_REQUESTS]
    rate = sum(one.cached_tokens or 0 for one in first) / sum(map(_prompt, first))
    if rate >= SERVED and (told[0].cached_tokens or 0) >= SERVED * _prompt(told[0]):
        return (
            f"the cold replica was not cold: {100 * rate:.0f} % of the prompt tokens of its first {len(first)} "
            f"request{'s' if len(first) > 1 else ''} came from its cache; {advice}"
        )
    return ""


def _prompt(request: RequestRun) -> int:
    """Prompt tokens of a request that succeeded and whose cached tokens are known; 0 of any other."""
    known = got_token(request) and request.cached_tokens is not None
    return (request.prompt_tokens or 0) if known else 0


def _first_of_items(requests: list[RequestRun], plan: Plan | None) -> tuple[int, int]:
    """(items asked for, those of them that were served at their first request beyond what the replay had left).

    Without texts it is not known what items share: then they only count if the earliest of them was served.
    """
    items = {item.id: item for item in plan.items} if plan is not None else {}
    asked: set[str] = set()
    texts: dict[tuple[str | None, str | None], list[str]] = {}
    served = 0
    for request in requests:
        if request.item is None or request.item in asked:
            continue
        share = request.item_share * _prompt(request)
        item = items.get(request.item)
        left = 0.0
        if item is not None and item.text:
            before = texts.setdefault((item.model, item.adapter), [])
            left = _shared(item.text, before)
            insort(before, item.text)
        if share and (request.cached_tokens or 0) - left * share >= SERVED * share:
            served += 1
        elif not asked and (item is None or not item.text):
            return 0, 0
        asked.add(request.item)
    return len(asked), served


def _shared(text: str, before: list[str]) -> float:
    """The share of ``text`` that its longest common prefix with any of ``before`` (sorted) makes up."""
    place = bisect_left(before, text)
    return max((_common(text, other) for other in before[max(0, place - 1) : place + 1]), default=0) / len(text)


def _common(one: str, other: str) -> int:
    """Length of the common prefix, by halving: comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
