"""The cost of a cold start, as spec 2.5 prints it, and a bounded variant under its own name."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from preheat.judge.metrics.metric import Reading, Subject, abstain

W_JUMP, W_VARIANCE, W_TRUNCATION = 0.4, 0.35, 0.25
MAX_JUMP = 3.0
PARTS = ("p99_jump", "ttft_variance", "truncation_rate")

CONTRADICTIONS = (
    "Cold-start cost: the published formula does not give its own published results. For the two rows of its example "
    "it gives 1.585 and 0.420, where 1.07 and 0.31 are published (a P99 weight of 0.216 in place of 0.4 would give "
    "those), and it is said to stay within 0 and 1. Preheat computes the formula as published, shows its parts, and "
    "gives a variant that does stay within 0 and 1 under a name of its own."
)


def cold_start_cost(p99_jump: float, var_ttft_ms2: float, truncation_rate: float) -> float:
    """``0.4*p99_jump + 0.35*sqrt(var_ttft/100) + 0.25*truncation_rate``, exactly as spec 2.5 prints it.

    ``p99_jump`` is clamped to 0..3 as the text says; ``var_ttft_ms2`` is a variance in ms². Unbounded above.

    It gives 1.585 for the printed row "empty cache" (2.8, 144, 0.18) and 0.420 for "partly warmed" (0.6, 25, 0.02).
    The published costs, 1.07 and 0.31, follow from a P99 weight of 0.216 (= 0.4 * 0.54) instead of 0.4. The text
    also promises [0, 1] yet prints 1.07, and a comment calls the variance a standard deviation. The printed
    formula is the definition here; for a bounded value see :func:`bounded_cold_start_cost`.
    """
    jump = min(max(p99_jump, 0.0), MAX_JUMP)
    return W_JUMP * jump + W_VARIANCE * sqrt(var_ttft_ms2 / 100) + W_TRUNCATION * truncation_rate


def bounded_cold_start_cost(p99_jump: float, var_ttft_ms2: float, truncation_rate: float) -> float:
    """The same weights over components that are each brought to [0, 1] first, so that the sum lies in [0, 1] (ours).

    ``p99_jump`` clamped to 0..3 is divided by 3; the deviation ``s = sqrt(var_ttft/100)`` becomes ``s / (1 + s)``
    (0.5 at a standard deviation of 10 ms, monotone, never quite 1); ``truncation_rate`` is a share already.
    """
    jump = min(max(p99_jump, 0.0), MAX_JUMP) / MAX_JUMP
    spread = sqrt(var_ttft_ms2 / 100)
    return W_JUMP * jump + W_VARIANCE * spread / (1 + spread) + W_TRUNCATION * truncation_rate


def _parts(known: Mapping[str, Reading]) -> tuple[float, float, float] | Reading:
    """The three components, or ABSTAIN naming the first that is missing."""
    values = []
    for tag in PARTS:
        value = known[tag].value
        if value is None:
            return abstain(f"{tag} cannot be told: {known[tag].why}")
        values.append(value)
    return values[0], values[1], values[2]


def _words(parts: tuple[float, float, float]) -> str:
    return f"p99_jump {parts[0]:.3f}, var_ttft {parts[1]:.1f} ms², truncation_rate {parts[2]:.3f}"


class ColdStartCost:
    """:func:`cold_start_cost` of a replay; its components are metrics of their own."""

    tag = "cold_start_cost"
    title = "Cold-start cost"
    unit = ""
    formula = (
        "0.4*p99_jump + 0.35*sqrt(var_ttft/100) + 0.25*truncation_rate, as published in the article that Preheat's "
        "cost model follows"
    )
    denominator = "a weighted sum, none"
    depends = PARTS

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        parts = _parts(known)
        if isinstance(parts, Reading):
            return parts
        return Reading(cold_start_cost(*parts), f"components: {_words(parts)}", known[PARTS[0]].window)


class BoundedColdStartCost:
    """:func:`bounded_cold_start_cost` of a replay."""

    tag = "cold_start_cost_bounded"
    title = "Cold-start cost, bounded"
    unit = "0..1"
    formula = "0.4*clamp(p99_jump,0,3)/3 + 0.35*s/(1+s) + 0.25*truncation_rate, s = sqrt(var_ttft/100)"
    denominator = "a weighted sum, none"
    depends = PARTS

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        parts = _parts(known)
        if isinstance(parts, Reading):
            return parts
        return Reading(bounded_cold_start_cost(*parts), f"components: {_words(parts)}", known[PARTS[0]].window)
