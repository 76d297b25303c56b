"""The few key figures at the top of the report, each with what it was divided by."""

from __future__ import annotations

from dataclasses import dataclass

from preheat.judge.values import show, show_ratio
from preheat.records.evidence import Comparison, Evidence, Metric


@dataclass(frozen=True)
class Figure:
    """``shown`` is large, ``detail`` small below it; ``value`` is the number behind, ``None`` for ABSTAIN."""

    name: str
    title: str
    shown: str
    detail: str
    value: float | None


def key_figures(evidence: Evidence) -> list[Figure]:
    """Of what is at hand: the gains, what the warm-up cost, and whether its result was there."""
    compared = {one.name: one for one in evidence.comparisons}
    doubted = bool(evidence.warnings)
    figures = [_gain(compared[name], doubted) for name in ("ttft_mean", "ttft_p95", "first_ttft") if name in compared]
    if "hit_rate" in compared:
        figures.append(_hits(compared["hit_rate"]))
    else:
        for side, metrics in (("warm", evidence.warm), ("cold", evidence.cold)):
            figures += [
                _single(metric, side) for metric in metrics if metric.name in ("ttft_mean", "ttft_p95", "hit_rate")
            ]
    wanted = ("residency", "compute_ratio", "warmup_duration", "redundancy")
    by_name = {metric.name: metric for metric in evidence.warmup}
    return figures + [_warmup(by_name[name]) for name in wanted if name in by_name]


def _gain(one: Comparison, doubted: bool) -> Figure:
    words = "slower" if one.ratio is not None and one.ratio < 1 else "faster"
    words = "cold / warm, not a gain of this warm-up" if doubted else words
    shown = show_ratio(one.ratio).replace("x", "×")
    detail = f"{words}: {show(one.cold, one.unit)} cold, {show(one.warm, one.unit)} warm" if one.ratio else one.why
    return Figure(f"key.{one.name}", one.title, shown, f"{detail}. {one.denominator}.", one.ratio)


def _hits(one: Comparison) -> Figure:
    shown = show(one.warm, one.unit)
    detail = f"warm; {show(one.cold, one.unit)} cold" if one.warm is not None else one.why
    return Figure(f"key.{one.name}", one.title, shown, f"{detail}. Of {one.denominator}.", one.warm)


def _single(metric: Metric, side: str) -> Figure:
    shown = show(metric.value, metric.unit)
    return Figure(
        f"key.{metric.name}", f"{metric.title} ({side})", shown, metric.why or metric.denominator, metric.value
    )


def _warmup(metric: Metric) -> Figure:
    shown = show(metric.value, metric.unit)
    parts = [metric.why or metric.denominator, metric.window, metric.note]
    return Figure(f"key.{metric.name}", metric.title, shown, "; ".join(filter(None, parts)), metric.value)
