"""Hit rate: how much of what was asked came from the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain, succeeded, window_of
from preheat.records.run import RequestRun


def token_sums(requests: Iterable[RequestRun]) -> tuple[int, int, int]:
    """(tokens from cache, prompt tokens, requests counted), over requests for which the engine reports both."""
    cached = total = counted = 0
    for request in requests:
        if request.cached_tokens is not None and request.prompt_tokens is not None:
            cached += request.cached_tokens
            total += request.prompt_tokens
            counted += 1
    return cached, total, counted


class HitRate:
    """Prompt tokens served from cache / prompt tokens, in the engine's own words."""

    tag = "hit_rate"
    title = "Cache hit rate"
    unit = "share"
    formula = "sum(cached_tokens) / sum(prompt_tokens)"
    denominator = "prompt tokens"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None:
            return abstain("no replay")
        cached, total, counted = token_sums(succeeded(subject.run))
        if not total:
            return abstain("the engine does not report how many prompt tokens came from its cache")
        base = f"{total} prompt tokens of {counted} requests ({cached} of them from cache)"
        return Reading(cached / total, base, window_of(subject.run))
