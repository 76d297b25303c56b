"""Cold against warm, each request with itself."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import msgspec

from preheat.judge.bootstrap import ratio_interval
from preheat.judge.caveats import control
from preheat.judge.metrics.hit_rate import token_sums
from preheat.judge.metrics.metric import window_of
from preheat.judge.metrics.ttft_quantile import METHOD, caveat, quantile
from preheat.judge.pairs import Pair, first_per_item, paired
from preheat.records.evidence import Comparison
from preheat.records.run import ReplayRun

SHARE = 0.8
"""A prefix "makes up" a prompt from this share of its characters on."""
TTFT = "mean(ttft_ms cold) / mean(ttft_ms warm); 95 % interval by paired bootstrap"
PROMPT = "mean(prompt_ms cold) / mean(prompt_ms warm), the engine's own word; 95 % interval by paired bootstrap"
FIRST = f"first request of each planned prefix that makes up at least {SHARE:.0%} of its prompt: "


def compare(cold: ReplayRun, warm: ReplayRun) -> list[Comparison]:
    """Every comparison of two replays of the same requests; ``ratio`` is cold / warm throughout.

    Only requests that succeeded in both runs count, and each comparison says how many those were. Where nothing
    can be paired the numbers are ``None`` and ``why`` says so.
    """
    pairs = paired(cold, warm)
    firsts = first_per_item(cold, warm, SHARE)
    leading = [pair for pair in pairs if pair.key in firsts]
    every = f"of {len(cold.requests)} requests that succeeded in both runs"
    first = f"of {len(firsts)} planned prefixes whose first request succeeded in both runs"
    made = [
        _means("ttft_mean", "TTFT, mean", ttft_pairs(pairs), every, TTFT),
        *(_quantile(percent, ttft_pairs(pairs), every) for percent in (50.0, 95.0, 99.0)),
        _means("prompt_ms_mean", "Prompt processing, mean (engine's word)", _prompt_pairs(pairs), every, PROMPT),
        _hit_rate(pairs, every),
        _means("first_ttft", "TTFT, first request of a planned prefix", ttft_pairs(leading), first, FIRST + TTFT),
        _means(
            "first_prompt_ms",
            "Prompt processing, first request of a planned prefix",
            _prompt_pairs(leading),
            first,
            FIRST + PROMPT,
        ),
        control(pairs, cold, warm, every),
    ]
    return [msgspec.structs.replace(comparison, window=window_of(warm)) for comparison in made]


def ttft_pairs(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """(cold, warm) times to first token, in ms."""
    return [
        (pair.cold.ttft_ms, pair.warm.ttft_ms)
        for pair in pairs
        if pair.cold.ttft_ms is not None and pair.warm.ttft_ms is not None
    ]


def _prompt_pairs(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    return [
        (pair.cold.prompt_ms, pair.warm.prompt_ms)
        for pair in pairs
        if pair.cold.prompt_ms is not None and pair.warm.prompt_ms is not None
    ]


def _means(name: str, title: str, values: list[tuple[float, float]], of: str, formula: str) -> Comparison:
    if not values:
        return _nothing(name, title, "ms", of, formula)
    cold, warm = fmean(a for a, _ in values), fmean(b for _, b in values)
    interval = ratio_interval(values)
    return Comparison(
        name=name,
        title=title,
        unit="ms",
        cold=cold,
        warm=warm,
        ratio=cold / warm if warm else None,
        denominator=f"{len(values)} {of}",
        formula=formula,
        pairs=len(values),
        ratio_low=interval[0] if interval else None,
        ratio_high=interval[1] if interval else None,
        why="" if warm else "the warm value is zero",
    )


def _quantile(percent: float, values: list[tuple[float, float]], of: str) -> Comparison:
    name, title = f"ttft_p{percent:g}", f"TTFT, P{percent:g}"
    formula = f"quantile of ttft_ms, cold / warm: {METHOD}"
    if not values:
        return _nothing(name, title, "ms", of, formula)
    cold, warm = quantile([a for a, _ in values], percent), quantile([b for _, b in values], percent)
    return Comparison(
        name=name,
        title=title,
        unit="ms",
        cold=cold,
        warm=warm,
        ratio=cold / warm if warm else None,
        denominator=f"{len(values)} {of}",
        formula=formula,
        pairs=len(values),
        why="" if warm else "the warm value is zero",
        note=caveat(percent, len(values)),
    )


def _hit_rate(pairs: Sequence[Pair], of: str) -> Comparison:
    name, title = "hit_rate", "Cache hit rate"
    formula = "sum(cached_tokens) / sum(prompt_tokens), the engine's word"
    told = [
        pair
        for pair in pairs
        if None
        not in (pair.cold.cached_tokens, pair.cold.prompt_tokens, pair.warm.cached_tokens, pair.warm.prompt_tokens)
    ]
    cold_hit, cold_all, _ = token_sums(pair.cold for pair in told)
    warm_hit, warm_all, _ = token_sums(pair.warm for pair in told)
    if not cold_all or not warm_all:
        return _nothing(
            name, title, "share", of, formula, "the engine does not report tokens from its cache in both runs"
        )
    cold, warm = cold_hit / cold_all, warm_hit / warm_all
    tokens = f"{cold_all}" if cold_all == warm_all else f"{cold_all} (cold), {warm_all} (warm)"
    return Comparison(
        name=name,
        title=title,
        unit="share",
        cold=cold,
        warm=warm,
        ratio=cold / warm if warm else None,
        denominator=f"{tokens} prompt tokens of {len(told)} {of}",
        formula=formula,
        pairs=len(told),
        why="" if warm else "the warm value is zero",
    )


def _nothing(name: str, title: str, unit: str, of: str, formula: str, why: str = "") -> Comparison:
    return Comparison(
        name=name,
        title=title,
        unit=unit,
        cold=None,
        warm=None,
        ratio=None,
        denominator=f"0 {of}",
        formula=formula,
        why=why or "no request can be paired",
    )
