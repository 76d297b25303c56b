"""Every metric against values computed by hand or by numpy and scipy."""

from __future__ import annotations

import statistics
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_runs import ITEMS, PREFIX_TOKENS, plan, replay, request, traffic, warm_run
from scipy.stats import mstats

from preheat.judge.metrics.cold_start_cost import PARTS, bounded_cold_start_cost, cold_start_cost
from preheat.judge.metrics.metric import Reading, Subject, read_all
from preheat.judge.metrics.table import METRICS, REPLAY_METRICS, WARMUP_METRICS
from preheat.judge.metrics.ttft_quantile import caveat, quantile
from preheat.records.evidence import Metric
from preheat.records.outcomes import Outcome
from preheat.records.run import ItemRun, ReplayRun, WarmRun


def of_replay(run: ReplayRun, baseline: ReplayRun | None = None) -> dict[str, Metric]:
    return {metric.name: metric for metric in read_all(REPLAY_METRICS, Subject(run=run, baseline=baseline))}


def of_warmup(subject: Subject) -> dict[str, Metric]:
    return {metric.name: metric for metric in read_all(WARMUP_METRICS, subject)}


def test_every_metric_declares_itself_and_its_dependencies_exist() -> None:
    for tag, metric in METRICS.items():
        assert tag == metric.tag
        assert metric.title
        assert metric.formula
        assert metric.denominator
        assert all(needed in METRICS for needed in metric.depends)


def test_ttft_statistics_by_hand_and_by_numpy() -> None:
    values = [10.0, 20.0, 30.0, 40.0, 400.0]
    told = of_replay(replay([request(str(n), value) for n, value in enumerate(values)]))
    assert told["ttft_mean"].value == 100.0
    assert told["ttft_p50"].value == 30.0
    assert told["ttft_p95"].value == pytest.approx(40 + 0.8 * 360)
    assert told["ttft_p99"].value == pytest.approx(float(np.percentile(values, 99)))
    assert told["ttft_variance"].value == pytest.approx(statistics.pvariance(values))
    assert told["ttft_variance"].unit == "ms²"
    assert told["ttft_mean"].denominator.startswith("5 of 5 requests")
    assert told["ttft_mean"].window.startswith(
        "log seconds 86400 to 86400 (0.0 s of a window of 5m00s), 5 of 5 requests"
    )


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=50), st.sampled_from([50.0, 95.0, 99.0]))
def test_quantiles_are_hyndman_fan_type_7(values: list[float], percent: float) -> None:
    theirs = mstats.mquantiles(values, [percent / 100], alphap=1, betap=1)[0]
    assert quantile(values, percent) == pytest.approx(float(theirs), rel=1e-9)


@pytest.mark.parametrize(("count", "few"), [(99, True), (100, False)])
def test_a_p99_of_too_few_is_given_with_a_note(count: int, few: bool) -> None:
    told = of_replay(replay([request(str(n), 1.0 + n) for n in range(count)]))["ttft_p99"]
    assert told.value is not None
    assert bool(told.note) is few
    assert bool(caveat(95, 19)) is True
    assert caveat(95, 20) == ""


def test_failed_requests_count_in_no_time_but_in_the_errors() -> None:
    run = replay([request("a", 100.0), request("b", None, error="HTTP 500"), request("c", 50.0, truncated=True)])
    told = of_replay(run)
    assert told["ttft_mean"].value == 75.0
    assert told["ttft_mean"].denominator.startswith("2 of 3")
    assert told["errors_share"].value == pytest.approx(1 / 3)
    assert told["truncation_rate"].value == pytest.approx(1 / 3)
    assert told["errors_share"].denominator == "1 of 3 requests sent"


def test_hit_rate_weighs_tokens_and_leaves_out_what_the_engine_does_not_say() -> None:
    run = replay(
        [
            request("a", prompt_tokens=100, cached_tokens=0),
            request("b", prompt_tokens=300, cached_tokens=300),
            request("c", prompt_tokens=999),
            request("d", None, prompt_tokens=500, cached_tokens=500, error="cut off"),
        ]
    )
    told = of_replay(run)["hit_rate"]
    assert told.value == 0.75
    assert told.denominator == "400 prompt tokens of 2 requests (300 of them from cache)"
    assert told.window


def test_means_of_engine_time_and_token_intervals() -> None:
    run = replay([request("a", prompt_ms=10.0, itl_ms=5.0), request("b", prompt_ms=30.0), request("c")], busy=0.25)
    told = of_replay(run)
    assert told["prompt_ms_mean"].value == 20.0
    assert told["itl_mean"].value == 5.0
    assert told["busy_share"].value == 0.25


def test_absent_is_not_zero() -> None:
    told = of_replay(replay([], busy=None))
    for metric in told.values():
        assert metric.value is None, metric.name
        assert metric.why
    silent = of_replay(replay([request("a")]))
    assert silent["hit_rate"].value is None
    assert silent["prompt_ms_mean"].value is None
    assert silent["ttft_variance"].value is None
    assert silent["cold_start_cost"].value is None
    assert "no warm baseline" in silent["cold_start_cost"].why


def test_p99_jump_is_raw_and_pairs_by_request() -> None:
    cold = replay([request("a", 500.0), request("b", 500.0), request("only here", 9e9)])
    warm = replay([request("b", 50.0), request("a", 50.0), request("c", 1.0)])
    told = of_replay(cold, warm)
    assert told["p99_jump"].value == pytest.approx(9.0)
    assert told["p99_jump"].denominator.startswith("2 requests")


@pytest.mark.parametrize(("jump", "variance", "truncated", "cost"), [(2.8, 144, 0.18, 1.585), (0.6, 25, 0.02, 0.420)])
def test_the_cold_start_cost_is_the_printed_formula(
    jump: float, variance: float, truncated: float, cost: float
) -> None:
    assert cold_start_cost(jump, variance, truncated) == pytest.approx(cost, abs=1e-9)
    assert 0 <= bounded_cold_start_cost(jump, variance, truncated) <= 1


@given(st.floats(-1, 1e6), st.floats(0, 1e12), st.floats(0, 1))
def test_the_bounded_cost_stays_in_its_bounds_and_grows_with_the_jump(jump: float, variance: float, cut: float) -> None:
    cost = bounded_cold_start_cost(jump, variance, cut)
    assert 0 <= cost <= 1
    assert bounded_cold_start_cost(jump + 0.5, variance, cut) >= cost


def test_the_cost_clamps_the_jump_but_shows_it_raw_and_names_its_components() -> None:
    cold = replay([request("a", 1000.0), request("b", 1000.0, truncated=True)])
    warm = replay([request("a", 10.0), request("b", 10.0)])
    told = of_replay(cold, warm)
    assert told["p99_jump"].value == pytest.approx(99.0)
    assert told["cold_start_cost"].value == pytest.approx(0.4 * 3 + 0.35 * sqrt(0) + 0.25 * 0.5)
    assert all(part in told["cold_start_cost"].denominator for part in ("p99_jump 99", "var_ttft 0.0", "0.500"))
    assert all(told[part].value is not None for part in PARTS)


def test_warm_up_metrics() -> None:
    told = of_warmup(Subject(warm_run=warm_run(), plan=plan(), replayed=(traffic(True),)))
    computed = ITEMS * (PREFIX_TOKENS + 1) + PREFIX_TOKENS
    distinct, attempted = (ITEMS + 2) * PREFIX_TOKENS, (ITEMS + 1) * PREFIX_TOKENS
    assert told["warmup_duration"].value == 3.1
    assert told["tokens_computed"].value == computed
    assert told["distinct_tokens"].value == distinct
    assert told["compute_ratio"].value == pytest.approx(computed / attempted)
    assert told["compute_ratio"].denominator == f"{attempted} distinct tokens of the 7 of 8 items attempted"
    assert of_warmup(Subject(warm_run=warm_run()))["compute_ratio"].value is None
    assert told["tokens_wasted"].denominator.endswith("1 of 7 items attempted")
    assert "redundancy" in told["tokens_wasted"].note
    assert told["tokens_wasted"].value == PREFIX_TOKENS
    assert told["residency"].value == pytest.approx(6 / 7)
    assert told["residency"].denominator == "6 of 7 attempted; 1 of 8 planned items deferred"


def test_an_item_is_asked_for_with_every_item_that_is_its_prefix() -> None:
    from judge_runs import plan_item

    deep = plan_item("deep", "x" * 192, leader="sibling")
    nested = [plan_item("top", "x" * 64), deep, plan_item("sibling", "x" * 64 + "y" * 64)]
    other = plan_item("other model", "x" * 64, model="b")
    run = WarmRun(
        plan_hash="",
        engine=warm_run().engine,
        started="",
        duration_s=1,
        verify_target=0.9,
        items=[
            ItemRun(id=item.id, status=Outcome.LOADED, predicted_tokens=1, computed_tokens=amount)
            for item, amount in zip([*nested, other], (1, 10, 100, 1000), strict=True)
        ],
    )
    whole = plan(0)
    replayed = (replay([request("a", item="deep", item_share=1.0)]),)
    subject = Subject(warm_run=run, plan=type(whole)(**_fields(whole) | {"items": [*nested, other]}), replayed=replayed)
    assert of_warmup(subject)["tokens_wasted"].value == 1100


def _fields(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__}  # type: ignore[attr-defined]


def test_residency_of_an_engine_without_a_word_is_not_zero() -> None:
    run = WarmRun(
        plan_hash="",
        engine=warm_run().engine,
        started="",
        duration_s=1,
        verify_target=0.9,
        items=[ItemRun(id="a", status=Outcome.UNSUPPORTED, predicted_tokens=1)],
    )
    told = of_warmup(Subject(warm_run=run))
    assert told["residency"].value is None
    assert told["tokens_wasted"].value is None


def test_a_cycle_of_metrics_is_refused() -> None:
    class Looping:
        tag = title = unit = formula = denominator = "loop"
        depends = ("loop",)

        def read(self, subject: Subject, known: object) -> Reading:
            raise AssertionError("never read")

    with pytest.raises(ValueError, match="loop -> loop"):
        read_all([Looping()], Subject())
