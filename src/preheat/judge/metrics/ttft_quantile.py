"""Quantiles of the time to first token: P50, P95, P99."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from preheat.judge.metrics.metric import Reading, Subject, over_ttfts

METHOD = "linear between order statistics, Hyndman-Fan type 7 (numpy's default)"


def quantile(values: Sequence[float], percent: float) -> float:
    """The ``percent`` quantile (0..100) of at least one value, by :data:`METHOD`."""
    return float(np.percentile(np.asarray(values, dtype=np.float64), percent, method="linear"))


def caveat(percent: float, count: int) -> str:
    """What to beware of when ``count`` values carry a quantile: empty when there are enough.

    Enough means that at least one value is expected beyond the quantile: n >= 100 / (100 - percent).
    """
    needed = round(100 / (100 - percent))
    if count >= needed:
        return ""
    return f"n = {count} < {needed}: too few for a P{percent:g}, it rests on the one or two slowest requests"


@dataclass(frozen=True)
class TtftQuantile:
    """The time to first token that ``percent`` of the requests stay under."""

    percent: float
    unit: str = "ms"
    denominator: str = "requests that got a first token"
    depends: tuple[str, ...] = ()
    formula: str = f"quantile of ttft_ms: {METHOD}"

    @property
    def tag(self) -> str:
        return f"ttft_p{self.percent:g}"

    @property
    def title(self) -> str:
        return f"TTFT, P{self.percent:g}"

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        counted = over_ttfts(subject, len)
        reading = over_ttfts(subject, lambda values: quantile(values, self.percent))
        return (
            replace(reading, note=caveat(self.percent, int(counted.value or 0)))
            if reading.value is not None
            else reading
        )
