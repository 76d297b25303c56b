"""How long the warm-up took."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain


class WarmupDuration:
    """Seconds from the first request of the warm-up to its last probe."""

    tag = "warmup_duration"
    title = "Warm-up took"
    unit = "s"
    formula = "end - start of the warm-up, verification included"
    denominator = "one warm-up"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.warm_run is None:
            return abstain("no warm-up")
        note = "" if subject.warm_run.complete else "the warm-up was cut short"
        return Reading(subject.warm_run.duration_s, note=note)
