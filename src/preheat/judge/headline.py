"""The sentence at the top: what warming bought, and whether the warm set is proven resident."""

from __future__ import annotations

from preheat.judge.values import show, show_ratio
from preheat.records.evidence import Comparison, Metric
from preheat.records.outcomes import Outcome
from preheat.records.run import WarmRun


def headline(comparisons: list[Comparison], cold: list[Metric], warm: list[Metric], warm_run: WarmRun | None) -> str:
    """One or two sentences; never more than the numbers carry."""
    table = {comparison.name: comparison for comparison in comparisons}
    said = [_bought(table) if comparisons else _single(cold, warm), _resident(warm_run)]
    return " ".join(part for part in said if part)


def _bought(table: dict[str, Comparison]) -> str:
    mean = table["ttft_mean"]
    if mean.ratio is None or mean.cold is None or mean.warm is None:
        return f"What warming bought cannot be told: {mean.why}."
    numbers = f"from {show(mean.cold, 'ms')} to {show(mean.warm, 'ms')}"
    low, high = mean.ratio_low, mean.ratio_high
    interval = f", 95 % interval {low:.2f} to {high:.2f}" if low is not None and high is not None else ""
    over = f"over {mean.pairs} requests sent to both replicas"
    if low is not None and high is not None and low <= 1 <= high:
        return f"These runs show no difference in mean TTFT ({numbers}{interval}) {over}{_hits(table)}."
    verb = "cut" if mean.ratio > 1 else "raised" if mean.ratio < 1 else "left"
    ratio = f"{show_ratio(mean.ratio)} cold / warm{interval}"
    return f"Warming {verb} the mean TTFT {numbers} ({ratio}) {over}{_hits(table)}."


def _hits(table: dict[str, Comparison]) -> str:
    hit = table["hit_rate"]
    if hit.cold is None or hit.warm is None:
        return ""
    return f"; the cache hit rate went from {show(hit.cold, 'share')} to {show(hit.warm, 'share')}"


def _single(cold: list[Metric], warm: list[Metric]) -> str:
    for side, metrics in (("warmed", warm), ("cold", cold)):
        values = {metric.name: metric for metric in metrics}
        if metrics and values["ttft_mean"].value is not None:
            mean = values["ttft_mean"]
            told = f"The mean TTFT of the {side} replica is {show(mean.value, 'ms')} over the {mean.denominator}"
            return f"{told}; there is no other run to compare with."
    return "No request was replayed, so what warming bought is not measured."


def _resident(run: WarmRun | None) -> str:
    if run is None:
        return ""
    if run.residency is None:
        return "The warm set is not proven resident: no item was attempted."
    if all(item.status is Outcome.UNSUPPORTED for item in run.attempted):
        return "The warm set is not proven resident: the engine gives no word by which to verify it."
    counted = f"{run.verified} of {len(run.attempted)} items attempted ({100 * run.residency:.1f} %)"
    target = f"the target is {100 * run.verify_target:g} %"
    if run.residency >= run.verify_target:
        return f"The warm set is proven resident: the engine itself confirmed {counted}; {target}."
    return f"The warm set is NOT proven resident: the engine confirmed {counted}; {target}."
