"""judge(), --fail-on, the terminal table, and what the page may show."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import msgspec
import pytest
from judge_runs import plan, replay, request, traffic, warm_run
from rich.console import Console

from preheat.errors import BadInput
from preheat.judge.fail_on import COMPARED, fail_on, known_names, parse, values
from preheat.judge.judge import judge
from preheat.judge.redundancy import LaterPrompt, redundancy
from preheat.judge.report_html import render, write_report
from preheat.judge.report_terminal import print_report
from preheat.judge.series import MOST_POINTS, ecdf, thin
from preheat.records.evidence import Evidence
from preheat.records.outcomes import Outcome
from preheat.records.run import WarmRun


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    whole = plan()
    later = [LaterPrompt(86_400.0 + n, (whole.items[n % 6].text or "") + "?") for n in range(50)]
    return judge(
        cold=traffic(False),
        warm=traffic(True),
        warm_run=warm_run(),
        plan=whole,
        redundancy=redundancy(whole.items, later, start_s=86_400.0),
        title="Monday morning",
        created="2026-01-05T10:00:00+00:00",
    )


def test_everything_is_filled(evidence: Evidence) -> None:
    assert {one.name for one in evidence.comparisons} == set(COMPARED)
    assert evidence.outcomes == {"LOADED": 6, "MISSING": 1, "DEFERRED": 1}
    assert set(evidence.series) == {
        *(
            f"{name}_{side}"
            for name in ("ttft_ecdf", "ttft_over_time", "hit_rate_rolling")
            for side in ("cold", "warm")
        ),
        "warmup_tokens",
        "warmup_verified",
    }
    assert len(evidence.series["ttft_ecdf_cold"]) == 60
    assert evidence.series["warmup_tokens"][-1][1] == 2806
    assert evidence.series["warmup_verified"][-1][1] == 6
    assert evidence.facts["strategy"] == "profile"
    assert evidence.skipped["plan: does not fit the budget"] == 3
    assert evidence.promises == {"residency>=0.95": False}
    assert any("1.585" in note for note in evidence.notes)
    assert "NOT proven resident" in evidence.headline
    assert evidence.commands[-1].startswith("preheat judge")
    rates = [m for m in (*evidence.cold, *evidence.warm, *evidence.warmup) if m.unit == "share" and m.value is not None]
    assert rates
    assert all(metric.denominator for metric in rates)


def test_evidence_survives_its_json(evidence: Evidence) -> None:
    assert msgspec.json.decode(msgspec.json.encode(evidence), type=Evidence) == evidence


def test_a_single_run_is_judged_without_a_baseline() -> None:
    for cold, warm in ((traffic(False), None), (None, traffic(True))):
        told = judge(cold=cold, warm=warm, title="one run")
        assert not told.comparisons
        assert bool(told.cold) is (cold is not None)
        assert "no other run" in told.headline
        assert "<svg" in render(told)
    empty = judge(cold=None, warm=None, title="nothing")
    assert "not measured" in empty.headline
    render(empty)


def test_a_steady_baseline_gives_the_warmed_run_a_cost_of_its_own() -> None:
    told = judge(cold=traffic(False), warm=traffic(True), steady=traffic(True, seed=8), title="steady")
    costs = {metric.name: metric.value for metric in told.warm}
    assert costs["cold_start_cost"] is not None
    assert costs["p99_jump"] is not None


def test_the_headline_claims_no_more_than_the_numbers() -> None:
    same = judge(cold=traffic(False), warm=traffic(False), title="same")
    assert "no difference" in same.headline
    slow = [msgspec.structs.replace(one, ttft_ms=3 * (one.ttft_ms or 0)) for one in traffic(False).requests]
    worse = judge(cold=traffic(False), warm=replay(slow, "warm"), title="worse")
    assert "raised the mean TTFT" in worse.headline
    loaded = [item for item in warm_run().items if item.status is Outcome.LOADED]
    proven = msgspec.structs.replace(warm_run(), items=loaded)
    assert "is proven resident" in judge(cold=None, warm=None, warm_run=proven, title="proven").headline


def test_runs_that_are_not_the_same_experiment_are_noted() -> None:
    told = judge(cold=traffic(False), warm=replay(traffic(True).requests, "warm", speed=0.5), title="x")
    assert any("speed" in note and "0.5" in note for note in told.notes)


def test_a_shortened_window_is_said_wherever_the_window_is(evidence: Evidence) -> None:
    assert "over 60 of the window's 60 requests" in evidence.headline
    cold, warm = (
        msgspec.structs.replace(traffic(warmed, 14), window_requests=47, speed=2.0) for warmed in (False, True)
    )
    told = judge(cold=cold, warm=warm, title="short")
    window = "log seconds 86400 to 86530 (2m10s of a window of 5m00s), 14 of 47 requests of the window were sent"
    assert "over 14 of the window's 47 requests" in told.headline
    page = io.StringIO()
    print_report(told, Console(file=page))
    assert f"window: {window}, replayed at 2x" in page.getvalue()
    assert f"Window: {window}" in render(told)
    assert told.facts["requests"] == "14 of 47 requests of the window were sent"
    assert told.facts["window"] == "log seconds 86400 to 86530, of a window of 5m00s"
    other = judge(cold=traffic(False), warm=warm, title="differ")
    assert "Window: cold: log seconds 86400 to 86695" in render(other)


@pytest.mark.parametrize(
    ("expression", "promises"),
    [
        ("ttft_mean_ratio<1.5", {"ttft_mean_ratio>=1.5": True}),
        ("ttft_mean_ratio<2 or hit_rate_warm<50%", {"ttft_mean_ratio>=2": False, "hit_rate_warm>=0.5": True}),
        ("residency<0.95, errors_share_warm>0", {"residency>=0.95": False, "errors_share_warm<=0": True}),
        ("TTFT_P99_warm >= 1e3 OR redundancy > .5", {"ttft_p99_warm<1000": True, "redundancy<=0.5": True}),
        ("cold_start_cost_warm>1", {"cold_start_cost_warm<=1": False}),
    ],
)
def test_fail_on(evidence: Evidence, expression: str, promises: dict[str, bool]) -> None:
    told = fail_on(evidence, expression)
    assert {name: told.promises[name] for name in promises} == promises
    if "cost" in expression:
        assert any("cannot be told" in note for note in told.notes)


@pytest.mark.parametrize(
    "expression", ["", "ttft", "a<", "__import__('os')<1", "ttft_mean_ratio<2 and residency<1", "1<2"]
)
def test_what_is_no_condition_is_bad_input(expression: str) -> None:
    with pytest.raises(BadInput):
        parse(expression)


def test_an_unknown_name_lists_the_known_ones(evidence: Evidence) -> None:
    with pytest.raises(BadInput, match="ttft_mean_ratio") as error:
        fail_on(evidence, "ttft_median<2")
    assert "ttft_median" in str(error.value)
    assert set(known_names()) <= set(values(evidence))


def test_the_terminal_table_is_plain_and_complete_when_piped(evidence: Evidence) -> None:
    page = io.StringIO()
    print_report(evidence, Console(file=page))
    text = page.getvalue()
    assert "\x1b" not in text
    assert "─" not in text
    mean = next(line for line in text.splitlines() if line.startswith("TTFT, mean"))
    assert "60 of 60 requests" in mean
    assert f"{evidence.comparisons[0].ratio:.2f}x" in mean
    assert (
        "window: log seconds 86400 to 86695 (4m55s of a window of 5m00s), 60 of 60 requests of the window were sent"
        in text
    )
    assert "6 LOADED, 1 MISSING, 1 DEFERRED (of 8 items)" in text
    assert "Promise residency>=0.95: MISSED" in text
    assert "ABSTAIN" in text
    colour = io.StringIO()
    print_report(evidence, Console(file=colour, force_terminal=True, width=120))
    assert "─" in colour.getvalue()


def test_the_terminal_says_what_to_beware_of() -> None:
    few = [traffic(warmed, 15) for warmed in (False, True)]
    page = io.StringIO()
    told = judge(cold=few[0], warm=few[1], warm_run=warm_run(), plan=plan(), title="few")
    print_report(told, Console(file=page))
    lines = {line.split("  ")[0]: line for line in page.getvalue().splitlines()}
    assert "n = 15 < 20: too few for a P95" in lines["TTFT, P95"]
    assert "n = 15 < 100: too few for a P99" in lines["TTFT, P99"]
    hits = next(one for one in told.comparisons if one.name == "hit_rate")
    assert hits.cold is not None
    assert hits.warm is not None
    points = f"{100 * (hits.warm - hits.cold):+.1f} points"
    assert points in lines["Cache hit rate"]
    assert "x" not in lines["Cache hit rate"].replace("prefix", "").split("points")[0]
    assert points in render(told)
    silent = judge(cold=replay([request("a")]), warm=replay([request("a")]), title="silent")
    page = io.StringIO()
    print_report(silent, Console(file=page))
    abstaining = [line for line in page.getvalue().splitlines() if "ABSTAIN" in line]
    assert abstaining
    assert all(len(line.split("ABSTAIN")[-1].strip()) > 10 for line in abstaining)


def test_the_report_is_for_people_who_have_no_specification(evidence: Evidence) -> None:
    page = io.StringIO()
    print_report(evidence, Console(file=page))
    for text in (page.getvalue(), msgspec.json.encode(evidence).decode()):
        assert "spec " not in text
        assert "(ours" not in text
    assert render(evidence).count("article") == 1
    assert "article" not in page.getvalue()


def test_files_are_private_small_and_ask_for_nothing(evidence: Evidence, tmp_path: Path) -> None:
    data, page = write_report(evidence, tmp_path / "report")
    assert json.loads(data.read_text())["schema"] == "preheat.evidence"
    for path in (data, page):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.stat().st_size < 1 << 20
    html = page.read_text()
    assert "default-src 'none'" in html
    assert not [word for word in ('<link rel="stylesheet', "src=", "@import", "url(") if word in html]


def test_text_from_elsewhere_is_redacted_and_escaped() -> None:
    secret, address = "sk-proj-abcdefghij0123456789", "jane.doe@example.com"
    bad = f"<script>alert(1)</script> {address} key {secret} https://me:pass1word@host/x?sig=1"
    cold = replay(
        [request("a", None, error=bad)],
        notes=[bad],
        log=f"s3://user:pw12345678@bucket/l.jsonl?X-Amz-Signature={secret}",
    )
    told = judge(cold=cold, warm=traffic(True), title="<b>title</b>")
    for text in (render(told), msgspec.json.encode(told).decode()):
        for leak in (secret, address, "pass1word", "pw12345678", "X-Amz", "sig=1"):
            assert leak not in text
    assert "<script>alert" not in render(told)
    assert "&lt;b&gt;title" in render(told)


def test_no_prompt_text_reaches_the_evidence(evidence: Evidence) -> None:
    text = msgspec.json.encode(evidence).decode() + render(evidence)
    assert "role 0" not in text
    assert "0" * 200 not in text


def test_a_long_run_is_thinned_and_the_page_stays_small() -> None:
    cold, warm = traffic(False, 5_000), traffic(True, 5_000)
    told = judge(cold=cold, warm=warm, title="long")
    assert all(len(points) <= MOST_POINTS for points in told.series.values())
    points = ecdf([one.ttft_ms or 0 for one in cold.requests])
    assert points[-1][1] == 1.0
    assert points[0][0] == min(one.ttft_ms or 0 for one in cold.requests)
    assert len(render(told).encode()) < 1 << 20


def test_thinning_keeps_the_ends_and_the_order() -> None:
    points = [[float(n), 0.0] for n in range(1001)]
    kept = thin(points, 10)
    assert len(kept) == 10
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert kept == sorted(kept)


def test_a_warm_up_alone_can_be_judged() -> None:
    none: WarmRun = msgspec.structs.replace(warm_run(), items=[])
    told = judge(cold=None, warm=None, warm_run=none, title="x")
    assert told.promises == {"residency>=0.95": True}, "nothing was to be warmed, so nothing is missing"
    assert "no item was attempted" in told.headline
    render(told)
