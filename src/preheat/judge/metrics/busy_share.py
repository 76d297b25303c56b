"""How busy the engine was during the replay."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain, window_of
from preheat.records.units import show_seconds


class BusyShare:
    """The engine's own processing time / duration of the replay. Above 1 with several prompts at once."""

    tag = "busy_share"
    title = "Engine busy"
    unit = "share"
    formula = "sum(prompt_ms + decode_ms) / duration"
    denominator = "duration of the replay"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None:
            return abstain("no replay")
        if subject.run.busy is None:
            return abstain("the engine does not report its own processing time")
        took = f"{show_seconds(subject.run.duration_s)} that the replay took"
        return Reading(subject.run.busy, took, window_of(subject.run))
