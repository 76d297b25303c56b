"""How long requests waited before the engine turned to them."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from preheat.judge.metrics.metric import Reading, Subject, abstain, succeeded, window_of


class Waiting:
    """Time to first token less the engine's own prompt processing: the queue, the network, the first token itself."""

    tag = "waiting_ms_mean"
    title = "Waiting, mean (queue and network)"
    unit = "ms"
    formula = "sum(ttft_ms - prompt_ms) / n"
    denominator = "requests for which the engine reports its prompt processing"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None:
            return abstain("no replay")
        values = [
            request.ttft_ms - request.prompt_ms
            for request in succeeded(subject.run)
            if request.ttft_ms is not None and request.prompt_ms is not None
        ]
        if not values:
            return abstain("the engine does not report its prompt-processing time")
        counted = f"{len(values)} of {len(subject.run.requests)} requests for which the engine reports it"
        return Reading(fmean(values), counted, window_of(subject.run))
