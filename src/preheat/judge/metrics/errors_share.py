"""Share of requests that failed."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain, window_of


class ErrorsShare:
    """Share of the requests that ended in an error, of whatever kind."""

    tag = "errors_share"
    title = "Requests that failed"
    unit = "share"
    formula = "requests that ended in an error / requests sent"
    denominator = "requests sent"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None or not subject.run.requests:
            return abstain("no request was replayed")
        sent = subject.run.requests
        counted = sum(request.error is not None for request in sent)
        return Reading(counted / len(sent), f"{counted} of {len(sent)} requests sent", window_of(subject.run))
