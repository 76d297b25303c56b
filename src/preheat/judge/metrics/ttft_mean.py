"""Mean time to first token."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from preheat.judge.metrics.metric import Reading, Subject, over_ttfts


class TtftMean:
    """Milliseconds from sending to the first generated token, as the client sees it; mean over requests."""

    tag = "ttft_mean"
    title = "TTFT, mean"
    unit = "ms"
    formula = "sum(ttft_ms) / n"
    denominator = "requests that got a first token"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        return over_ttfts(subject, fmean)
