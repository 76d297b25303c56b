"""Mean inter-token latency."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from preheat.judge.metrics.metric import Reading, Subject, abstain, succeeded, window_of


class ItlMean:
    """Mean over requests of each request's mean time between tokens; every request weighs the same."""

    tag = "itl_mean"
    title = "Inter-token latency, mean"
    unit = "ms"
    formula = "sum(itl_ms) / n"
    denominator = "requests with at least two generated tokens"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None:
            return abstain("no replay")
        values = [request.itl_ms for request in succeeded(subject.run) if request.itl_ms is not None]
        if not values:
            return abstain("no request generated two tokens")
        counted = f"{len(values)} of {len(subject.run.requests)} requests with two tokens or more"
        return Reading(fmean(values), counted, window_of(subject.run))
