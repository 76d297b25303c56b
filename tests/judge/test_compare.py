"""Pairing, ratios, their interval, and the first request of each planned prefix."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_runs import ITEMS, replay, request, traffic
from scipy import stats

from preheat.judge.bootstrap import ratio_interval, ratio_of_means
from preheat.judge.compare import compare
from preheat.judge.pairs import first_per_item, paired
from preheat.records.evidence import Comparison
from preheat.records.run import ReplayRun

TIMES = st.lists(st.floats(1, 1e5), min_size=5, max_size=40)


def table(cold: ReplayRun, warm: ReplayRun) -> dict[str, Comparison]:
    return {one.name: one for one in compare(cold, warm)}


def test_only_requests_that_succeeded_in_both_runs_count() -> None:
    cold = replay([request("a", 100.0), request("b", 300.0), request("c", None, error="x"), request("d", 5.0)])
    warm = replay([request("c", 1.0), request("b", 100.0), request("a", 100.0), request("e", 7.0)])
    mean = table(cold, warm)["ttft_mean"]
    assert (mean.cold, mean.warm, mean.ratio, mean.pairs) == (200.0, 100.0, 2.0, 2)
    assert mean.denominator == "2 of 4 requests that succeeded in both runs"
    assert mean.window


def test_a_repeated_id_is_paired_by_its_occurrence() -> None:
    cold = replay([request("a", 1.0), request("a", 2.0)])
    warm = replay([request("a", 10.0), request("a", 20.0)])
    assert [(pair.cold.ttft_ms, pair.warm.ttft_ms) for pair in paired(cold, warm)] == [(1.0, 10.0), (2.0, 20.0)]


def test_ratios_against_numpy() -> None:
    cold, warm = traffic(False), traffic(True)
    a = np.array([one.ttft_ms for one in cold.requests])
    b = np.array([one.ttft_ms for one in warm.requests])
    told = table(cold, warm)
    assert told["ttft_mean"].ratio == pytest.approx(a.mean() / b.mean())
    for percent in (50, 95, 99):
        assert told[f"ttft_p{percent}"].ratio == pytest.approx(np.percentile(a, percent) / np.percentile(b, percent))
    hits = [sum(one.cached_tokens or 0 for one in run.requests) for run in (cold, warm)]
    assert told["hit_rate"].ratio == pytest.approx(hits[0] / hits[1])
    assert "prompt tokens" in told["hit_rate"].denominator


def test_the_first_request_of_each_planned_prefix() -> None:
    cold, warm = traffic(False), traffic(True)
    told = table(cold, warm)["first_ttft"]
    firsts = slice(0, ITEMS)
    expected = sum(one.ttft_ms or 0 for one in cold.requests[firsts]) / sum(
        one.ttft_ms or 0 for one in warm.requests[firsts]
    )
    assert told.pairs == ITEMS
    assert told.ratio == pytest.approx(expected)
    assert told.denominator == f"{ITEMS} of {ITEMS} planned prefixes whose first request succeeded in both runs"
    assert "80" in told.formula


def test_first_is_by_due_time_needs_the_share_and_does_not_move_on_after_a_failure() -> None:
    cold = replay(
        [
            request("late", 5.0, due_s=9.0, item="i", item_share=0.9),
            request("early", None, due_s=1.0, item="i", item_share=0.9, error="refused"),
            request("thin", 5.0, due_s=0.0, item="j", item_share=0.79),
        ]
    )
    warm = replay([request("late", 5.0), request("early", 5.0), request("thin", 5.0)])
    assert first_per_item(cold, warm, 0.8) == {("early", 0): "i"}
    told = table(cold, warm)["first_ttft"]
    assert told.ratio is None
    assert told.denominator.startswith("0 of 1 planned prefixes")
    assert told.why


def test_nothing_to_pair_is_said_not_guessed() -> None:
    for one in compare(replay([request("a")]), replay([request("b")])):
        assert (one.cold, one.warm, one.ratio, one.pairs) == (None, None, None, 0)
        assert one.why


def test_a_warm_value_of_zero_has_no_ratio() -> None:
    side = replay([request("a", prompt_tokens=10, cached_tokens=0)])
    assert table(side, side)["hit_rate"].ratio is None
    assert table(side, side)["hit_rate"].why == "the warm value is zero"


@settings(max_examples=30)
@given(TIMES)
def test_a_run_against_itself_has_ratio_one(values: list[float]) -> None:
    run = replay([request(str(n), value, prompt_ms=value) for n, value in enumerate(values)])
    for one in compare(run, run):
        assert one.ratio is None or one.ratio == pytest.approx(1)
        assert one.ratio_low is None or (one.ratio_low == pytest.approx(1) and one.ratio_high == pytest.approx(1))


@settings(max_examples=20)
@given(st.integers(0, 2**30))
def test_the_order_of_either_run_does_not_matter(seed: int) -> None:
    cold, warm = traffic(False, 24), traffic(True, 24)
    shuffled = list(warm.requests)
    random.Random(seed).shuffle(shuffled)
    before, after = compare(cold, warm), compare(cold, replay(shuffled, "warm"))
    assert [(one.name, one.cold, one.ratio) for one in after] == [
        (one.name, pytest.approx(one.cold), pytest.approx(one.ratio)) for one in before
    ]


def test_the_interval_is_seeded_and_near_scipys() -> None:
    draw = np.random.default_rng(3)
    warm = draw.lognormal(4, 0.4, 200)
    pairs = list(zip((warm * draw.lognormal(0.7, 0.3, 200)).tolist(), warm.tolist(), strict=True))
    ours = ratio_interval(pairs)
    assert ours is not None
    assert ours == ratio_interval(pairs)
    data = np.array(pairs)
    theirs = stats.bootstrap(
        (data[:, 0], data[:, 1]),
        lambda a, b, axis=-1: a.mean(axis) / b.mean(axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=4000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), rel=0.02)
    ratio = ratio_of_means(pairs)
    assert ratio is not None
    assert ours[0] < ratio < ours[1]


def test_no_interval_where_it_would_mean_nothing() -> None:
    assert ratio_interval([(1.0, 1.0)] * 4) is None
    assert ratio_interval([(1.0, 0.0)] * 10) is None
    assert ratio_of_means([]) is None


def test_a_request_that_broke_off_after_its_first_token_counts_in_neither_run() -> None:
    whole = request("a", 100.0, prompt_ms=10.0, prompt_tokens=10, cached_tokens=5)
    broken = request("b", 900.0, prompt_ms=90.0, prompt_tokens=90, cached_tokens=90, error="closed half-way")
    fine = request("b", 900.0, prompt_ms=90.0, prompt_tokens=90, cached_tokens=90)
    for cold, warm in (([whole, broken], [whole, fine]), ([whole, fine], [whole, broken])):
        told = table(replay(cold), replay(warm))
        assert (told["ttft_mean"].cold, told["ttft_mean"].warm, told["ttft_mean"].pairs) == (100.0, 100.0, 1)
        assert told["prompt_ms_mean"].pairs == 1
        assert told["hit_rate"].warm == 0.5
