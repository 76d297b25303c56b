"""What the warm-up made the engine compute, against what the plan had to compute."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain


class TokensComputed:
    """Token positions that the engine computed because of the warm-up, probes included."""

    tag = "tokens_computed"
    title = "Tokens computed by the warm-up"
    unit = "tokens"
    formula = "sum(computed_tokens + probe_tokens) over items, the engine's word (ours)"
    denominator = "items of the plan"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.warm_run is None:
            return abstain("no warm-up")
        items = subject.warm_run.items
        return Reading(float(subject.warm_run.tokens_computed), f"{len(items)} items of the plan")


class DistinctTokens:
    """Token positions of the plan's prefixes, none twice: the least that a warm-up from empty must compute."""

    tag = "distinct_tokens"
    title = "Distinct tokens in the plan"
    unit = "tokens"
    formula = "sum(new_tokens) over items (ours)"
    denominator = "items of the plan"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.warm_run is not None and subject.warm_run.distinct_tokens:
            return Reading(float(subject.warm_run.distinct_tokens), f"{len(subject.warm_run.items)} items of the plan")
        if subject.plan is None:
            return abstain("no plan")
        exact = all(item.tokens_exact for item in subject.plan.items)
        note = "" if exact else "estimated from characters for at least one item"
        return Reading(float(subject.plan.distinct_tokens), f"{len(subject.plan.items)} items of the plan", note=note)


class ComputeRatio:
    """How often the warm-up computed each distinct token: 1 is perfect, 2 means everything twice."""

    tag = "compute_ratio"
    title = "Computed / distinct tokens"
    unit = "ratio"
    formula = "tokens_computed / distinct_tokens (ours)"
    denominator = "distinct tokens in the plan"
    depends = ("tokens_computed", "distinct_tokens")

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        computed, distinct = known["tokens_computed"], known["distinct_tokens"]
        if computed.value is None or distinct.value is None:
            return abstain(computed.why or distinct.why)
        if not distinct.value:
            return abstain("the plan has no tokens")
        return Reading(computed.value / distinct.value, f"{distinct.value:.0f} distinct tokens", note=distinct.note)
