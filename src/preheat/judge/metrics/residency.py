"""Verified residency: how much of what was warmed is really there."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain
from preheat.records.outcomes import Outcome


class Residency:
    """Items that the engine itself confirmed at the first probe / items attempted (all but DEFERRED)."""

    tag = "residency"
    title = "Verified residency"
    unit = "share"
    formula = "(LOADED + ALREADY) / items attempted, by the engine's word at the first probe"
    denominator = "items attempted"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        run = subject.warm_run
        if run is None:
            return abstain("no warm-up")
        if run.residency is None:
            return abstain("no item was attempted")
        if all(item.status is Outcome.UNSUPPORTED for item in run.attempted):
            return abstain("the engine gives no word by which to verify a prefix")
        return Reading(run.residency, run.confirmed)
