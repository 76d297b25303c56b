"""The queue, the machine's drift and the time between the runs are told apart from what warming saved."""

from __future__ import annotations

import msgspec
import pytest
from judge_runs import ITEMS, replay, request, traffic

from preheat.judge.caveats import CONTROL, apart_in_time, control, drift, waiting
from preheat.judge.judge import judge
from preheat.judge.metrics.metric import Subject, read_all
from preheat.judge.metrics.table import REPLAY_METRICS
from preheat.judge.pairs import paired
from preheat.records.run import ReplayRun


def run(*times: tuple[float, float], cached: int = 0, label: str = "cold") -> ReplayRun:
    return replay(
        [
            request(str(n), ttft, prompt_ms=prompt, prompt_tokens=100, cached_tokens=cached)
            for n, (ttft, prompt) in enumerate(times)
        ],
        label,
    )


def test_waiting_is_told_where_it_is_much_of_the_difference() -> None:
    cold, warm = run((1000.0, 500.0), (2000.0, 500.0)), run((300.0, 250.0), (300.0, 250.0), cached=50)
    note = waiting(paired(cold, warm))
    assert "Of the difference of 1200 ms in mean TTFT, 950 ms is waiting in the queue, not prefill" in note
    assert "1000 ms cold, 50 ms warm" in note
    assert "prompt processing changed 2.00x" in note
    told = judge(cold=cold, warm=warm, title="x")
    assert note in told.notes
    assert "the engine's own prompt processing 2.00x" in told.headline
    assert waiting(paired(run((510.0, 500.0)), run((260.0, 250.0)))) == ""
    assert waiting(paired(replay([request("0")]), warm)) == ""
    reading = {metric.name: metric for metric in read_all(REPLAY_METRICS, Subject(run=cold))}["waiting_ms_mean"]
    assert reading.value == 1000.0
    assert reading.denominator.startswith("2 of 2 requests")


def test_the_control_is_over_requests_that_warming_did_not_touch() -> None:
    cold, warm = traffic(False), traffic(True)
    one = control(paired(cold, warm), cold, warm, "")
    assert one.pairs == 60 - ITEMS
    assert one.ratio == pytest.approx(1, abs=0.05)
    assert one.ratio_low is not None
    assert drift(one) == ""
    told = judge(cold=cold, warm=warm, title="x")
    assert CONTROL in {comparison.name for comparison in told.comparisons}


def test_drift_of_the_machine_is_told() -> None:
    cold, warm = run(*[(100.0, 60.0)] * 6), run(*[(100.0, 50.0)] * 6, cached=10, label="warm")
    one = control(paired(cold, warm), cold, warm, "pairs")
    assert (one.cold, one.warm) == (pytest.approx(0.6), pytest.approx(50 / 90))
    assert drift(one) == ""
    slower = run(*[(100.0, 80.0)] * 6)
    off = control(paired(slower, warm), slower, warm, "pairs")
    assert "ratio of 1.44 cold / warm per token (6 requests" in drift(off)
    assert drift(off) in judge(cold=slower, warm=warm, title="x").notes
    none = control(paired(cold, run(*[(9.0, 9.0)] * 6, cached=40)), cold, warm, "pairs")
    assert (none.cold, none.ratio, none.pairs) == (None, None, 0)
    assert none.why


def test_runs_at_different_times_are_told() -> None:
    cold = msgspec.structs.replace(traffic(False), duration_s=60.0)
    later = msgspec.structs.replace(traffic(True), duration_s=60.0, started="2026-01-05T10:01:30+01:00")
    assert "cold 09:00:00 to 09:01:00, warm 09:01:30 to 09:02:30 (UTC)" in apart_in_time(cold, later)
    assert apart_in_time(cold, msgspec.structs.replace(later, started="2026-01-05T09:00:02")) == ""
    assert apart_in_time(cold, msgspec.structs.replace(later, started="?")) == ""
