"""A confidence interval on the ratio of two means, by resampling the pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 2000
SEED = 20_260
CONFIDENCE = 0.95
FEWEST = 5
_CHUNK = 2_000_000
_MOST_DRAWS = 40_000_000
_FEWEST_RESAMPLES = 400


def ratio_of_means(pairs: Sequence[tuple[float, float]]) -> float | None:
    """mean(first) / mean(second); ``None`` without pairs or where the second mean is zero."""
    below = sum(second for _, second in pairs)
    return sum(first for first, _ in pairs) / below if below else None


def ratio_interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Percentile bootstrap interval (95 %, 2,000 resamples, seeded) of :func:`ratio_of_means`.

    Whole pairs are drawn, so what a request is cold stays with what it is warm (Efron and Tibshirani 1993, ch. 13).
    Requests are taken as exchangeable: where they queue behind each other the true interval is wider. Above
    20,000 pairs there are fewer resamples, down to 400: the interval is narrow by then. ``None`` under five pairs
    or where a resample's second mean could be zero.
    """
    data = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    if len(data) < FEWEST or not (data[:, 1] > 0).all():
        return None
    resamples = max(_FEWEST_RESAMPLES, min(RESAMPLES, _MOST_DRAWS // len(data)))
    draw = np.random.default_rng(SEED)
    ratios: list[float] = []
    at_once = max(1, _CHUNK // len(data))
    while len(ratios) < resamples:
        rows = min(at_once, resamples - len(ratios))
        sums = data[draw.integers(0, len(data), size=(rows, len(data)))].sum(axis=1)
        ratios.extend((sums[:, 0] / sums[:, 1]).tolist())
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(ratios, [tail, 100 - tail])
    return float(low), float(high)
