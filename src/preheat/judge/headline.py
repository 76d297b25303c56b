"""The sentence at the top: what warming bought, and whether the warm set is proven resident."""

from __future__ import annotations

from preheat.judge.values import show, show_ratio
from preheat.records.evidence import Comparison, Metric
from preheat.records.outcomes import Outcome
from preheat.records.run import ReplayRun, WarmRun


def headline(
    comparisons: list[Comparison],
    metrics: dict[str, list[Metric]],
    warm_run: WarmRun | None,
    runs: tuple[ReplayRun | None, ReplayRun | None] = (None, None),
    doubts: list[str] | None = None,
) -> str:
    """One or two sentences; never more than the numbers carry.

    ``metrics`` are those of the ``cold`` and the ``warm`` replica, ``runs`` the two replays; with ``doubts`` the
    difference is stated, but not claimed for the warm-up.
    """
    table = {comparison.name: comparison for comparison in comparisons}
    cold, warm = runs
    if cold is not None and warm is not None and comparisons:
        bought = _bought(table, cold, warm, doubts or [])
    else:
        bought = _single(metrics["cold"], metrics["warm"])
    return " ".join(part for part in (bought, _resident(warm_run)) if part)


def _bought(table: dict[str, Comparison], cold: ReplayRun, warm: ReplayRun, doubts: list[str]) -> str:
    mean = table["ttft_mean"]
    if mean.ratio is None or mean.cold is None or mean.warm is None:
        return f"What warming bought cannot be told: {mean.why}."
    window = max(cold.window_requests, warm.window_requests)
    requests = f"{mean.pairs} of the window's {window} requests" if window else f"{mean.pairs} requests"
    over = f"over {requests}, {sent_to(cold, warm)}"
    if doubts:
        numbers = f"{show(mean.cold, 'ms')} on the cold side and {show(mean.warm, 'ms')} on the warmed one"
        return f"What this warm-up bought cannot be told: {'; and '.join(doubts)}. The mean TTFT was {numbers} {over}."
    numbers = f"from {show(mean.cold, 'ms')} to {show(mean.warm, 'ms')}"
    low, high = mean.ratio_low, mean.ratio_high
    interval = f", 95 % interval {low:.2f} to {high:.2f}" if low is not None and high is not None else ""
    interval += _prompts(table)
    if low is not None and high is not None and low <= 1 <= high:
        return f"These runs show no difference in mean TTFT ({numbers}{interval}) {over}{_hits(table)}."
    verb = "cut" if mean.ratio > 1 else "raised" if mean.ratio < 1 else "left"
    ratio = f"{show_ratio(mean.ratio)} cold / warm{interval}"
    return f"Warming {verb} the mean TTFT {numbers} ({ratio}) {over}{_hits(table)}."


def _prompts(table: dict[str, Comparison]) -> str:
    """The ratio that no queue is in."""
    prompts = table["prompt_ms_mean"]
    return f"; the engine's own prompt processing {show_ratio(prompts.ratio)}" if prompts.ratio is not None else ""


def sent_to(cold: ReplayRun, warm: ReplayRun) -> str:
    """Where the requests of the two runs went."""
    if cold.engine.url != warm.engine.url:
        return "sent to both replicas"
    if cold.salted and not warm.salted:
        return "sent to one replica, first in a namespace of its own, then warmed"
    return "sent to one replica twice"


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
    counted = run.confirmed
    target = f"that is {100 * run.residency:.1f} % of those attempted, the target is {100 * run.verify_target:g} %"
    if run.residency >= run.verify_target:
        return f"The warm set is proven resident: the engine itself confirmed {counted}; {target}."
    return f"The warm set is NOT proven resident: the engine confirmed {counted}; {target}."
