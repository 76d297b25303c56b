"""The engine's own time for processing prompts."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from preheat.judge.metrics.metric import Reading, Subject, abstain, succeeded, window_of


class PromptTime:
    """Mean prompt-processing time in the engine's own words: no network, no queue."""

    tag = "prompt_ms_mean"
    title = "Prompt processing, mean (engine's word)"
    unit = "ms"
    formula = "sum(prompt_ms) / n"
    denominator = "requests for which the engine reports it"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None:
            return abstain("no replay")
        values = [request.prompt_ms for request in succeeded(subject.run) if request.prompt_ms is not None]
        if not values:
            return abstain("the engine does not report its prompt-processing time")
        counted = f"{len(values)} of {len(subject.run.requests)} requests for which the engine reports it"
        return Reading(fmean(values), counted, window_of(subject.run))
