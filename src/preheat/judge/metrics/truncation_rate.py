"""Truncation rate: how many prompts were cut."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain, window_of


class TruncationRate:
    """Share of the requests whose prompt was cut to fit the context."""

    tag = "truncation_rate"
    title = "Prompts cut to fit"
    unit = "share"
    formula = "requests whose context was cut / requests sent"
    denominator = "requests sent"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None or not subject.run.requests:
            return abstain("no request was replayed")
        sent = subject.run.requests
        counted = sum(request.truncated for request in sent)
        return Reading(counted / len(sent), f"{counted} of {len(sent)} requests sent", window_of(subject.run))
