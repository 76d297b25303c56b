"""What the warm-up made the engine compute, against what the plan had to compute."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain


class TokensComputed:
    """Token positions that the engine computed because of the warm-up, probes included."""

    tag = "tokens_computed"
    title = "Tokens computed by the warm-up"
    unit = "tokens"
    formula = "sum(computed_tokens + probe_tokens) over items, the engine's word"
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
    formula = "sum(new_tokens) over items"
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
    """How often the warm-up computed each distinct token of the items it attempted: 1 is perfect, 2 means twice."""

    tag = "compute_ratio"
    title = "Computed / distinct tokens"
    unit = "ratio"
    formula = "tokens_computed / sum(new_tokens) over the items attempted"
    denominator = "distinct tokens of the items attempted"
    depends = ("tokens_computed", "distinct_tokens")

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        computed, planned = known["tokens_computed"], known["distinct_tokens"]
        if subject.warm_run is None or computed.value is None or planned.value is None:
            return abstain(computed.why or planned.why)
        items, attempted = len(subject.warm_run.items), {item.id for item in subject.warm_run.attempted}
        distinct: float = planned.value
        if len(attempted) < items:
            if subject.plan is None:
                return abstain("without the plan it is not known how many tokens the deferred items have")
            distinct = sum(item.new_tokens for item in subject.plan.items if item.id in attempted)
        if not distinct:
            return abstain("no item with tokens was attempted")
        counted = f"{distinct:.0f} distinct tokens of the {len(attempted)} of {items} items attempted"
        return Reading(computed.value / distinct, counted, note=planned.note)
