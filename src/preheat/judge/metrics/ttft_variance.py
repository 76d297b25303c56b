"""Variance of the time to first token."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import pvariance

from preheat.judge.metrics.metric import Reading, Subject, over_ttfts


class TtftVariance:
    """Population variance (divided by n) of the time to first token, in ms²."""

    tag = "ttft_variance"
    title = "TTFT, variance"
    unit = "ms²"
    formula = "sum((ttft_ms - mean)^2) / n"
    denominator = "requests that got a first token"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        return over_ttfts(subject, pvariance, at_least=2)
