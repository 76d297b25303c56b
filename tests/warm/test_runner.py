"""Warming on the sandbox, on virtual time: order, bounds, every outcome, faults."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from preheat.clock import run_virtual
from preheat.engines.engine import Engine, Prefill
from preheat.engines.faults import EngineBusy
from preheat.errors import EngineDenied, EngineFailed, EngineTimeout, EngineUnreachable, StorageFault
from preheat.records.outcomes import Outcome, Retention
from preheat.records.plan import Plan
from preheat.records.rendering import Prefix
from preheat.records.run import WarmRun
from preheat.records.target import EngineInfo
from preheat.sandbox.settings import SandboxSettings
from preheat.warm.journal import Entry, WarmJournal
from preheat.warm.runner import Warmer
from preheat.warm.settings import WarmSettings
from warm.plans import Counting, after, families, item, plan_of, singles, text


def warm(plan: Plan, engine: Engine, settings: WarmSettings | None = None, **more: Any) -> WarmRun:
    return run_virtual(Warmer(plan, engine, settings, **more).run())


def statuses(run: WarmRun) -> list[Outcome]:
    return [each.status for each in run.items]


@pytest.mark.parametrize("concurrency", [1, 2, 8, 64])
def test_no_prefix_is_computed_twice_however_many_run_at_once(concurrency: int) -> None:
    plan, engine = plan_of(families(4, 5)), Counting()
    run = warm(plan, engine, WarmSettings(concurrency=concurrency))
    assert run.counts == {"LOADED": len(plan.items)}
    assert run.residency == 1.0
    assert sum(each.computed_tokens for each in run.items) == plan.distinct_tokens + len(plan.items)
    assert [each.probe_tokens for each in run.items] == [1] * len(plan.items)
    assert run.tokens_computed == engine.computed_tokens
    assert set(engine.sent.values()) == {2}  # warmed once, probed once


def test_followers_wait_for_a_leader_that_stands_far_ahead() -> None:
    leader = item("a", text("trunk", 30))
    followers = [item(f"b{n}", (leader.text or "") + text(f"own {n}", 1), leader) for n in range(12)]
    plan, engine = plan_of([leader, *singles(3), *followers]), Counting(SandboxSettings(prefill_ms_per_token=5))
    run = warm(plan, engine, WarmSettings(concurrency=8))
    assert sum(each.computed_tokens for each in run.items) == plan.distinct_tokens + len(plan.items)


@pytest.mark.parametrize(("asked", "running", "expected"), [(1, 64, 1), (3, 64, 3), (None, 64, 4), (None, 2, 2)])
def test_so_many_run_at_once_and_no_more(asked: int | None, running: int, expected: int) -> None:
    engine = Counting(SandboxSettings(max_running=running))
    warm(plan_of(singles(20)), engine, WarmSettings(concurrency=asked))
    assert engine.most_at_once == expected


def test_what_has_not_had_its_turn_in_time_is_deferred() -> None:
    engine = Counting(SandboxSettings(prefill_ms_per_token=10))  # 0.65 s an item
    run = warm(plan_of(singles(10)), engine, WarmSettings(concurrency=1, max_time_s=2.0))
    assert statuses(run) == [Outcome.LOADED] * 4 + [Outcome.DEFERRED] * 6
    assert run.residency == 1.0
    assert "in time" in run.items[-1].reason
    assert run.items[-1].computed_tokens == 0


def test_a_follower_whose_leader_took_all_the_time_is_deferred() -> None:
    leader = item("a", text("trunk", 20))
    follower = item("b", (leader.text or "") + text("own", 2), leader)
    engine = Counting(SandboxSettings(prefill_ms_per_token=10))  # 3.2 s for the leader
    run = warm(plan_of([leader, follower]), engine, WarmSettings(concurrency=8, max_time_s=2.0))
    assert statuses(run) == [Outcome.LOADED, Outcome.DEFERRED]


def test_the_second_run_finds_all_of_it_already_there() -> None:
    plan, engine = plan_of(families(2, 3)), Counting()

    async def twice() -> tuple[WarmRun, WarmRun]:
        return await Warmer(plan, engine).run(), await Warmer(plan, engine).run()

    first, second = run_virtual(twice())
    assert first.counts == {"LOADED": len(plan.items)}
    assert second.counts == {"ALREADY": len(plan.items)}
    assert second.tokens_computed == 2 * len(plan.items)
    assert all(each.cached_before == each.predicted_tokens for each in second.items)


def test_what_is_longer_than_the_context_is_clipped_and_says_so() -> None:
    plan, engine = plan_of([item("long", text("long", 40)), *singles(1)]), Counting(SandboxSettings(context_tokens=256))
    run = warm(plan, engine)
    assert statuses(run) == [Outcome.CLIPPED, Outcome.LOADED]
    assert "longer than the engine's context" in run.items[0].reason
    assert run.items[0].predicted_tokens == run.items[0].cached_tokens == 240
    assert run.residency == 0.5  # what was clipped does not count as proven


def test_what_the_engine_evicts_is_missing_and_a_probe_never_heals_it() -> None:
    plan, engine = plan_of(singles(8, blocks=5)), Counting(SandboxSettings(capacity_blocks=20))
    run = warm(plan, engine, WarmSettings(concurrency=1))
    probes = dict(engine.resident_before[8:])
    for each, planned in zip(run.items, plan.items, strict=True):
        ids = next(ids for ids in probes if list(ids[:80]) == engine.core.tokenize(planned.text or "")[:80])
        held = probes[ids]
        assert each.cached_tokens == held
        assert each.status is (Outcome.LOADED if held >= each.predicted_tokens else Outcome.MISSING)
        assert each.probe_tokens == 81 - held
    assert Outcome.MISSING in statuses(run)
    assert run.tokens_computed == engine.computed_tokens  # what probes filled in is counted
    missing = next(each for each in run.items if each.status is Outcome.MISSING)
    assert "of 80 tokens resident at the first probe" in missing.reason


def test_an_item_that_the_engine_refuses_is_rejected_and_the_others_go_on() -> None:
    refused = singles(7, adapter="nobody")
    good = [item("good", text("good", 3)), item("legal", text("legal", 3), adapter="legal")]
    engine = Counting(SandboxSettings(adapters=("legal",)))
    run = warm(plan_of([*refused, *good]), engine, WarmSettings(give_up_after=3))
    assert statuses(run) == [Outcome.REJECTED] * 7 + [Outcome.LOADED] * 2
    assert "nobody" in run.items[0].reason
    assert run.items[0].attempts == 1  # it will not pass
    assert run.residency == pytest.approx(2 / 9)


def test_a_kind_that_the_engine_has_no_way_for_is_unsupported() -> None:
    run = warm(plan_of([item("e", text("e", 2), kind="embedding"), *singles(1)]), Counting())
    assert statuses(run) == [Outcome.UNSUPPORTED, Outcome.LOADED]
    assert "embedding" in run.items[0].reason


def test_without_the_engines_word_nothing_is_proven() -> None:
    run = warm(plan_of(singles(3)), Counting(SandboxSettings(report_cached=False)))
    assert run.counts == {"UNSUPPORTED": 3}
    assert "no proof" in run.items[0].reason
    assert run.residency == 0.0


def test_what_is_shorter_than_a_cache_block_is_unsupported() -> None:
    engine = Counting()
    run = warm(plan_of([item("short", "Hello, this is short."), item("none", "")]), engine)
    assert run.counts == {"UNSUPPORTED": 2}
    assert not engine.sent


def test_an_empty_plan_is_a_run_of_nothing() -> None:
    run = warm(plan_of([]), Counting())
    assert (run.items, run.residency, run.complete) == ([], None, True)


class TextOnly(Counting):
    """Has no tokenizer endpoint."""

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> None:  # type: ignore[override]
        return None


def test_an_engine_that_takes_text_only_is_warmed_and_asked_just_so() -> None:
    plan, engine = plan_of(families(1, 2)), TextOnly()
    assert warm(plan, engine).counts == {"LOADED": 4}
    assert warm(plan, engine).counts == {"ALREADY": 4}


def test_text_beyond_the_context_is_refused_not_clipped() -> None:
    run = warm(plan_of([item("long", text("long", 40)), *singles(1)]), TextOnly(SandboxSettings(context_tokens=256)))
    assert statuses(run) == [Outcome.REJECTED, Outcome.LOADED]
    assert "maximum context length" in run.items[0].reason


class WholeStates(Counting):
    """Says that it keeps whole states, as llama.cpp does."""

    async def describe(self) -> EngineInfo:
        return msgspec.structs.replace(await super().describe(), retention=Retention.STATES)


def test_of_whole_states_only_the_longest_are_probed() -> None:
    plan, engine = plan_of(families(1, 3)), WholeStates()
    run = warm(plan, engine)
    assert run.counts == {"LOADED": 5}
    assert sum(engine.sent.values()) == 5 + 3  # two followers and the grandchild
    spoken_for = {each.id for each in run.items if "item that extends it" in each.reason}
    assert spoken_for == {"leader-0", "follower-0-2"}


class Flaky(Counting):
    """Raises what it is given, one fault a prefill, before it begins to work."""

    def __init__(self, faults: list[Exception], settings: SandboxSettings | None = None) -> None:
        super().__init__(settings)
        self.faults = faults

    async def prefill(self, *args: Any, **more: Any) -> Prefill:
        if self.faults:
            raise self.faults.pop(0)
        return await super().prefill(*args, **more)


def test_a_fault_that_passes_costs_a_retry_and_retry_after_is_honoured() -> None:
    engine = Flaky([EngineBusy("busy", retry_after_s=30.0), EngineBusy("busy", retry_after_s=30.0)])
    run = warm(plan_of(singles(1)), engine)
    assert statuses(run) == [Outcome.LOADED]
    assert run.items[0].attempts == 3
    assert 60.0 <= run.duration_s < 62.0


def test_an_engine_that_is_gone_ends_the_run_at_once() -> None:
    engine = Counting(SandboxSettings(refuse_after=4))
    with pytest.raises(EngineUnreachable):
        warm(plan_of(singles(10)), engine, WarmSettings(concurrency=1, attempts=2))
    assert engine.core.requests == 4 + 2


def test_credentials_that_are_refused_are_not_tried_again() -> None:
    engine = Flaky([EngineDenied("no", "check the key")] * 9)
    with pytest.raises(EngineDenied):
        warm(plan_of(singles(10)), engine, WarmSettings(concurrency=1))
    assert len(engine.faults) == 8


def test_items_that_fail_in_a_row_end_the_run_and_the_journal_stays(tmp_path: Any) -> None:
    engine, journal = Counting(), WarmJournal(tmp_path / "warm.json")

    async def main() -> None:
        run = asyncio.create_task(
            Warmer(
                plan_of(singles(20)), engine, WarmSettings(concurrency=1, attempts=2, give_up_after=3), journal=journal
            ).run()
        )
        while engine.core.requests < 4:
            await asyncio.sleep(0.001)
        engine.core.switch(error_rate=1.0)
        await run

    with pytest.raises(EngineFailed) as caught:
        run_virtual(main())
    assert engine.core.requests == 4 + 3 * 2
    assert "--resume" in caught.value.remedy
    assert journal.path.exists()
    engine.core.switch(error_rate=0.0)
    run = warm(plan_of(singles(20)), engine, WarmSettings(resume=True), journal=journal)
    assert run.counts == {"LOADED": 20}


def test_single_failures_are_rejected_and_break_no_row() -> None:
    engine = Counting(SandboxSettings(error_rate=0.3, seed=5))
    run = warm(plan_of(singles(40)), engine, WarmSettings(attempts=1, give_up_after=8))
    assert set(run.counts) == {"LOADED", "MISSING", "REJECTED"}  # a probe without an answer proves nothing


def test_a_hanging_engine_is_given_up_after_its_time() -> None:
    engine = Counting(SandboxSettings(hang=True))
    with pytest.raises(EngineTimeout):
        warm(plan_of(singles(9)), engine, WarmSettings(concurrency=1, attempts=2, request_timeout_s=3.0))
    assert sum(engine.sent.values()) == 10


def test_no_further_try_begins_when_the_time_is_over() -> None:
    engine = Counting(SandboxSettings(hang=True))
    settings = WarmSettings(concurrency=1, request_timeout_s=3.0, max_time_s=2.0)
    run = warm(plan_of(singles(3)), engine, settings)
    assert statuses(run) == [Outcome.REJECTED, Outcome.DEFERRED, Outcome.DEFERRED]
    assert run.items[0].attempts == 1


class Mute(Counting):
    async def describe(self) -> EngineInfo:
        await asyncio.sleep(3600)
        return await super().describe()


def test_an_engine_that_never_says_what_it_is_is_not_waited_for_for_ever() -> None:
    with pytest.raises(EngineTimeout, match="what it is within 7 s"):
        warm(plan_of(singles(1)), Mute(), WarmSettings(request_timeout_s=7.0))


def test_a_stop_lets_go_of_what_runs_and_leaves_the_rest(tmp_path: Any) -> None:
    engine, stop = Counting(SandboxSettings(prefill_ms_per_token=10)), asyncio.Event()
    journal = WarmJournal(tmp_path / "warm.json")

    async def main() -> WarmRun:
        warmer = Warmer(plan_of(singles(10)), engine, WarmSettings(concurrency=2), journal=journal, stop=stop)
        run, _ = await asyncio.gather(warmer.run(), after(2.0, stop))
        return run

    run = run_virtual(main())
    assert not run.complete
    assert run.duration_s == pytest.approx(2.0)
    assert run.counts == {"DEFERRED": 10}
    assert [each.reason for each in run.items[:4]] == ["warmed, not verified: interrupted"] * 3 + [
        "interrupted before its turn"
    ]
    assert engine.core.cache.used_blocks == 0
    assert journal.path.exists()


def test_a_stop_does_not_wait_for_a_hanging_probe() -> None:
    engine, stop = Counting(SandboxSettings(prefill_ms_per_token=0)), asyncio.Event()

    async def main() -> WarmRun:
        run = asyncio.create_task(Warmer(plan_of(singles(6)), engine, WarmSettings(concurrency=1), stop=stop).run())
        while engine.core.requests < 8:
            await asyncio.sleep(0)
        engine.core.switch(hang=True)
        await after(5.0, stop)
        return await run

    run = run_virtual(main())
    assert run.counts["LOADED"] >= 2
    assert run.counts["LOADED"] + run.counts["DEFERRED"] == 6


class FullDisk(WarmJournal):
    def add(self, entry: Entry) -> None:
        if entry.id == "single-3":
            raise StorageFault("cannot write the journal: No space left on device")
        super().add(entry)


def test_a_journal_that_cannot_be_written_ends_the_run(tmp_path: Any) -> None:
    engine = Counting()
    with pytest.raises(StorageFault):
        warm(plan_of(singles(50)), engine, WarmSettings(concurrency=2), journal=FullDisk(tmp_path / "warm.json"))
    assert sum(engine.sent.values()) < 10


def test_progress_counts_every_item_once() -> None:
    seen: list[tuple[str, int, int]] = []
    warm(plan_of(singles(5)), Counting(), progress=lambda *what: seen.append(what))
    assert [what for what in seen if what[0] == "warm"] == [("warm", n, 5) for n in range(1, 6)]
    assert seen[-1] == ("verify", 5, 5)
