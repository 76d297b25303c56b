"""When the difference between two runs is not the warm-up's doing, nobody may read that it is."""

from __future__ import annotations

import io

import msgspec
import pytest
from judge_runs import ENGINE, PREFIX_TOKENS, plan, plan_item, replay, request, traffic, warm_run
from rich.console import Console

from preheat.judge.doubts import not_cold, nothing_loaded
from preheat.judge.judge import judge
from preheat.judge.report_html import render
from preheat.judge.report_terminal import print_report
from preheat.records.evidence import Evidence
from preheat.records.outcomes import Outcome
from preheat.records.run import ReplayRun, RequestRun, WarmRun

OTHER = msgspec.structs.replace(ENGINE, url="http://127.0.0.1:8081")


def terminal(evidence: Evidence) -> str:
    page = io.StringIO()
    print_report(evidence, Console(file=page))
    return page.getvalue()


def all_of(status: Outcome, **more: object) -> WarmRun:
    items = [msgspec.structs.replace(item, status=status, **more) for item in warm_run(0).items]
    return msgspec.structs.replace(warm_run(0), items=items)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (all_of(Outcome.ALREADY), "already resident before this warm-up (6 of 6 items)"),
        (all_of(Outcome.DEFERRED), "nothing was warmed"),
        (all_of(Outcome.MISSING), "loaded nothing (6 MISSING)"),
        (all_of(Outcome.UNSUPPORTED, computed_tokens=0), "loaded nothing (6 UNSUPPORTED)"),
        (msgspec.structs.replace(warm_run(), items=[]), "nothing was warmed"),
    ],
)
def test_a_warm_up_that_loaded_nothing_claims_nothing(run: WarmRun, why: str) -> None:
    told = judge(cold=traffic(False), warm=traffic(True), warm_run=run, plan=plan(), title="x")
    assert "Warming cut" not in told.headline
    assert why in told.headline
    assert "says nothing about this warm-up" in told.headline
    assert why.lower() in told.warnings[0].lower()
    assert "WARNING: " in terminal(told)
    page = render(told)
    assert 'role="alert"' in page
    assert "faster:" not in page


def test_what_was_loaded_is_claimed() -> None:
    for run in (warm_run(), all_of(Outcome.CLIPPED), all_of(Outcome.UNSUPPORTED)):
        assert nothing_loaded(run) == ""
    told = judge(cold=traffic(False), warm=traffic(True), warm_run=warm_run(), plan=plan(), title="x")
    assert told.headline.startswith("Warming cut the mean TTFT")
    assert not told.warnings


def test_a_cold_replica_that_was_not_cold_claims_nothing() -> None:
    for planned in (plan(), None):
        told = judge(cold=traffic(True), warm=traffic(True), warm_run=warm_run(), plan=planned, title="x")
        assert "Warming cut" not in told.headline
        assert "the cold replica was not cold: 6 of 6 planned prefixes" in told.headline
        assert "use a fresh replica or a salted run" in told.warnings[0]
    without = [msgspec.structs.replace(one, item=None, item_share=0.0) for one in traffic(True).requests]
    assert "of its first 5 requests came from its cache" in not_cold(replay(without), None)


def asking(ids: list[str], cached: list[int]) -> ReplayRun:
    asked: list[RequestRun] = [
        request(f"r{n}", due_s=float(n), prompt_tokens=500, cached_tokens=cached[n], item=id, item_share=0.8)
        for n, id in enumerate(ids)
    ]
    return replay(asked)


def test_what_a_cold_replay_shares_within_itself_is_not_held_against_it() -> None:
    same = asking(["a"] * 6, [0, *[PREFIX_TOKENS] * 5])
    assert not_cold(same, None) == ""
    head = "h" * 900
    items = [plan_item(id, head + id * 100) for id in "abcd"]
    nested = asking(list("abcd"), [0, 360, 360, 360])
    assert not_cold(nested, msgspec.structs.replace(plan(0), items=items)) == ""
    assert not_cold(nested, None) == ""
    alone = [plan_item(id, id * 1000) for id in "abcd"]
    assert "3 of 4 planned" in not_cold(nested, msgspec.structs.replace(plan(0), items=alone))


def test_where_the_requests_went_is_said() -> None:
    cold, warm = traffic(False), traffic(True)
    two = judge(cold=cold, warm=msgspec.structs.replace(warm, engine=OTHER), title="x")
    assert "sent to both replicas" in two.headline
    one = judge(cold=msgspec.structs.replace(cold, salted=True), warm=warm, title="x")
    assert "sent to one replica, first in a namespace of its own, then warmed" in one.headline
    twice = judge(cold=cold, warm=warm, title="x")
    assert "sent to one replica twice" in twice.headline
    assert any("same address" in note for note in twice.notes)
    assert not any("same address" in note for note in (*one.notes, *two.notes))


def test_a_partial_warm_up_says_how_partial() -> None:
    loaded = warm_run(0).items
    deferred = [msgspec.structs.replace(item, id=f"d{n}", status=Outcome.DEFERRED) for n, item in enumerate(loaded[:2])]
    partial = msgspec.structs.replace(warm_run(), items=[*loaded, *deferred])
    told = judge(cold=None, warm=None, warm_run=partial, title="x")
    words = "6 of 6 attempted; 2 of 8 planned items deferred"
    assert words in told.headline
    assert f"warm set proven resident: {words}" in render(told)
    whole = judge(cold=None, warm=None, warm_run=warm_run(0), title="x")
    assert "deferred" not in whole.headline
