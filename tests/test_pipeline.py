"""The whole job on sandbox replicas over real HTTP."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from preheat.clock import run_virtual
from preheat.engines.calibrate import Speed, calibrate
from preheat.engines.engine import Engine
from preheat.engines.table import connect
from preheat.errors import BadInput, EngineFault, EngineUnreachable, Interrupted
from preheat.job import Fleet, Job, Result
from preheat.mine.miner import mine
from preheat.pipeline import up
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.read.split import Split, find_cut
from preheat.records.evidence import Evidence
from preheat.records.outcomes import Outcome
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport, Request
from preheat.replay.settings import ReplaySettings
from preheat.sandbox.inprocess import InProcessEngine
from preheat.sandbox.server import SandboxServer, serve
from preheat.sandbox.settings import SandboxSettings
from preheat.stages import Stages, both
from preheat.warm.journal import WarmJournal
from preheat.warm.settings import WarmSettings

QUICK = SandboxSettings(prefill_ms_per_token=0.02, token_interval_ms=0.5)
FAST_REPLAY = ReplaySettings(speed=None, hurry=True, max_time_s=3.0, output_tokens=2)


def write_log(path: Path, hours: float = 3.0, tenants: int = 3, seed: int = 1) -> Path:
    """Tenants with a system prompt of their own each, a question every twenty seconds or so."""
    chooser = random.Random(seed)
    words = ["river", "stone", "window", "paper", "garden", "winter", "orange", "table", "letter", "morning"]
    systems = [" ".join(chooser.choice(words) for _ in range(400)) for _ in range(tenants)]
    time_s, lines = 1_000.0, []
    while time_s < 1_000.0 + 3600 * hours:
        tenant = chooser.randrange(tenants)
        question = " ".join(chooser.choice(words) for _ in range(12))
        messages = [{"role": "system", "content": systems[tenant]}, {"role": "user", "content": question}]
        lines.append(
            {"request_id": f"r{len(lines)}", "timestamp": time_s, "tenant": f"t{tenant}", "messages": messages}
        )
        time_s += chooser.uniform(5, 35)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_log(tmp_path_factory.mktemp("log") / "log.jsonl"))


@asynccontextmanager
async def replicas(count: int, settings: SandboxSettings = QUICK) -> AsyncIterator[tuple[list[SandboxServer], Fleet]]:
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(serve(settings)) for _ in range(count)]
        engines: list[Engine] = []
        for server in servers:
            engines.append(await connect(server.url))
            stack.push_async_callback(engines[-1].close)
        yield servers, Fleet(engines[0], engines[1] if count > 1 else None)


def stages_for(folder: Path, stop: asyncio.Event | None = None, **more: Any) -> Stages:
    return Stages(
        more.get("progress", lambda *_: None),
        more.get("say", lambda _: None),
        stop or asyncio.Event(),
        folder / "warm.json",
    )


def comparison(evidence: Evidence, name: str) -> Any:
    return next(each for each in evidence.comparisons if each.name == name)


def warmup(evidence: Evidence, name: str) -> Any:
    return next(each for each in evidence.warmup if each.name == name)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
async def test_warming_pays_on_two_replicas_and_on_one(log: str, tmp_path: Path, count: int) -> None:
    said: list[str] = []
    saved: list[Result] = []
    job = Job([log], replay=replace(FAST_REPLAY, max_time_s=8.0))
    async with replicas(count, replace(QUICK, prefill_ms_per_token=0.3)) as (_, fleet):
        stages = stages_for(tmp_path, say=said.append)
        result = await up(job, fleet, Result(ReadReport()), stages, lambda reached: saved.append(replace(reached)))
    assert result.evidence is not None
    assert result.evidence.insight is not None
    assert result.evidence.insight.topology is not None
    assert result.profile is not None
    assert result.plan is not None
    assert result.cold is not None
    assert result.warm is not None
    assert comparison(result.evidence, "ttft_mean").ratio > 1
    assert comparison(result.evidence, "hit_rate").warm > 0.8
    assert warmup(result.evidence, "residency").value == 1.0
    assert warmup(result.evidence, "redundancy").value is not None
    assert result.cold.requests[0].cached_tokens == 0
    assert [each.id for each in result.cold.requests] == [each.id for each in result.warm.requests]
    assert not any(each.error for each in (*result.cold.requests, *result.warm.requests))
    assert (result.cold.salted, result.warm.salted) == (count == 1, False)
    assert result.cold.log == log
    assert result.cold.window_s == 300.0
    assert not WarmJournal(tmp_path / "warm.json").path.exists()  # the result is saved, the journal has gone
    assert [(each.profile is None, each.plan is None, each.evidence is None) for each in saved] == [
        (False, True, True),
        (False, False, True),
        (False, False, True),
        (False, False, False),
    ]
    assert any("distinct" in line for line in said)
    # nothing of the replayed window was learnt, and the plan is for a start at the cut
    cut = find_cut([log], None, 300.0)
    assert result.profile.end_s < cut.until_s == result.plan.at_s
    requests = {each.id: each for each in read_requests([log], report=ReadReport())}
    replayed = [requests[each.id] for each in result.warm.requests]
    assert all((each.time_s or 0.0) >= cut.until_s for each in replayed)
    assert result.warm.window_requests == sum((each.time_s or 0.0) >= cut.until_s for each in requests.values())
    assert result.profile.requests + result.warm.window_requests == len(requests)


async def test_a_dry_run_ends_with_the_plan(log: str, tmp_path: Path) -> None:
    async with replicas(1) as (servers, fleet):
        result = await up(Job([log], dry_run=True), fleet, Result(ReadReport()), stages_for(tmp_path), lambda _: None)
        computed = servers[0].core.counted.prompt_tokens - servers[0].core.counted.prefix_hits
    assert result.plan is not None
    assert result.plan.items
    assert result.warm_run is None
    assert computed < 3000  # the calibration's own


async def test_the_time_for_warming_bounds_the_plan(log: str, tmp_path: Path) -> None:
    async with replicas(1, replace(QUICK, prefill_ms_per_token=0.2)) as (_, fleet):
        job = Job([log], dry_run=True, warm=WarmSettings(max_time_s=0.15))
        result = await up(job, fleet, Result(ReadReport()), stages_for(tmp_path), lambda _: None)
    assert result.plan is not None
    assert result.plan.budget_ms == 150.0
    assert result.plan.cost_ms <= 150.0


async def test_an_interrupt_while_warming_keeps_what_was_reached(log: str, tmp_path: Path) -> None:
    stop, saved = asyncio.Event(), []

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "warm" and done == 1:
            stop.set()

    async with replicas(2) as (_, fleet):
        job = Job([log], replay=FAST_REPLAY, warm=WarmSettings(concurrency=1))
        with pytest.raises(Interrupted, match="--resume"):
            await up(job, fleet, Result(ReadReport()), stages_for(tmp_path, stop, progress=progress), saved.append)
    run = saved[-1].warm_run
    assert run is not None
    assert not run.complete
    assert all(each.status is Outcome.DEFERRED for each in run.items)
    assert WarmJournal(tmp_path / "warm.json").path.exists()


@pytest.mark.parametrize("stage", ["read", "cold"])
async def test_an_interrupt_elsewhere_ends_the_job(log: str, tmp_path: Path, stage: str) -> None:
    stop = asyncio.Event()

    def progress(now: str, done: int, total: int) -> None:
        if now == stage:
            stop.set()

    async with replicas(2) as (_, fleet):
        with pytest.raises(Interrupted):
            await up(
                Job([log], replay=FAST_REPLAY),
                fleet,
                Result(ReadReport()),
                stages_for(tmp_path, stop, progress=progress),
                lambda _: None,
            )


async def test_a_replica_that_hangs_up_on_every_request_ends_the_job(log: str, tmp_path: Path) -> None:
    async with replicas(2) as (servers, fleet):

        def progress(stage: str, done: int, total: int) -> None:
            if stage == "verify" and done == total:
                servers[1].core.switch(refuse_after=0)

        result = Result(ReadReport())
        with pytest.raises(EngineFault, match=r"all [0-9]+ requests of the replay failed"):
            await up(
                Job([log], replay=FAST_REPLAY), fleet, result, stages_for(tmp_path, progress=progress), lambda _: None
            )
    assert result.evidence is None, "nothing was compared, and nothing is claimed"
    assert result.warm_run is not None
    assert result.warm_run.residency == 1.0


async def test_when_one_of_two_replays_fails_the_other_is_let_go() -> None:
    let_go = asyncio.Event()

    async def going_on() -> Any:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            let_go.set()
            raise

    async def failing() -> Any:
        await asyncio.sleep(0)
        raise EngineUnreachable("gone")

    with pytest.raises(EngineUnreachable):
        await both(going_on(), failing())
    assert let_go.is_set()


async def test_a_cold_replica_that_is_not_there_is_found_out_before_anything_is_warmed(
    log: str, tmp_path: Path
) -> None:
    async with replicas(1) as (servers, fleet):
        gone = await connect("http://127.0.0.1:9", "vllm")
        with pytest.raises(EngineUnreachable):
            await up(Job([log]), Fleet(fleet.warmed, gone), Result(ReadReport()), stages_for(tmp_path), lambda _: None)
        await gone.close()
        assert servers[0].core.requests == 0


async def test_an_engine_that_fails_everything_is_a_fault(log: str, tmp_path: Path) -> None:
    async with replicas(1) as (servers, fleet):
        await fleet.warmed.describe()
        servers[0].core.switch(error_rate=1.0)
        with pytest.raises(EngineFault):
            await up(Job([log]), fleet, Result(ReadReport()), stages_for(tmp_path), lambda _: None)


@pytest.mark.parametrize("context_tokens", [128, 512, 32_768])
def test_the_cost_of_a_token_is_measured_on_small_contexts_too(context_tokens: int) -> None:
    settings = SandboxSettings(
        context_tokens=context_tokens, prefill_ms_per_token=0.5, prefill_fixed_ms=7.0, token_interval_ms=30.0
    )

    async def main() -> Speed:
        engine = InProcessEngine(settings)
        return await calibrate(engine, await engine.describe())

    speed = run_virtual(main())
    assert speed.cost.prefill_ms_per_token == pytest.approx(0.5)
    assert speed.cost.fixed_ms == pytest.approx(7.0)
    assert speed.ms_per_output == pytest.approx(30.0)


# --- the cut


def timed_log(path: Path, times: list[float | None]) -> str:
    lines = [{"prompt": f"p{n}", **({} if at is None else {"timestamp": at})} for n, at in enumerate(times)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def split(log: str, until: str | None, window_s: float) -> tuple[list[Request], list[Request]]:
    cut = find_cut([log], until, window_s)
    parts = Split(read_requests([log], report=ReadReport()), cut)
    return list(parts.learnt()), parts.later


def times(requests: list[Request]) -> list[float | None]:
    return [request.time_s for request in requests]


def test_the_last_window_holds_the_last_request(tmp_path: Path) -> None:
    start_s = 1_700_000_000.0
    log = timed_log(tmp_path / "a.jsonl", [start_s + 100.0 * n for n in range(11)])
    learnt, later = split(log, None, 300.0)
    assert times(later) == [start_s + 800.0, start_s + 900.0, start_s + 1000.0]
    assert len(learnt) == 8


def test_a_short_log_is_cut_at_three_quarters(tmp_path: Path) -> None:
    log = timed_log(tmp_path / "a.jsonl", [10.0 * n for n in range(9)])
    assert find_cut([log], None, 300.0).window_s == 20.0
    learnt, later = split(log, None, 300.0)
    assert (len(learnt), times(later)) == (7, [70.0, 80.0])


def test_until_is_in_the_logs_own_clock_or_from_its_start(tmp_path: Path) -> None:
    log = timed_log(tmp_path / "a.jsonl", [5000.0, 4000.0, 8000.0, 7600.0, 9000.0])
    for until in ("7600", "2600s"):  # the first line counts as the start
        learnt, later = split(log, until, 1000.0)
        assert times(learnt) == [5000.0, 4000.0]
        assert times(later) == [7600.0, 8000.0]


def test_without_times_requests_are_a_second_apart(tmp_path: Path) -> None:
    learnt, later = split(timed_log(tmp_path / "a.jsonl", [None] * 10), "6s", 3.0)
    assert times(learnt) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert times(later) == [6.0, 7.0, 8.0]


def test_a_cut_that_leaves_nothing_is_said(tmp_path: Path) -> None:
    log = timed_log(tmp_path / "a.jsonl", [1.0, 2.0, 3.0])
    with pytest.raises(BadInput, match="no request in the 5m00s after the cut at 100 s"):
        split(log, "100", 300.0)
    with pytest.raises(BadInput, match="one moment"):
        find_cut([timed_log(tmp_path / "b.jsonl", [7.0, 7.0])], None, 300.0)
    (tmp_path / "c.jsonl").write_text("")
    with pytest.raises(BadInput, match="no requests"):
        find_cut([str(tmp_path / "c.jsonl")], "3s", 300.0)


def test_a_file_that_is_no_log_does_not_keep_a_folder_from_being_cut(tmp_path: Path) -> None:
    timed_log(tmp_path / "b.jsonl", [50.0, 60.0])
    timed_log(tmp_path / "c.jsonl", [30.0, 40.0])
    (tmp_path / "README.txt").write_text("These are logs.\n")
    assert find_cut([str(tmp_path)], "10s", 300.0).until_s == 40.0


def test_a_cut_can_be_ended_from_outside(tmp_path: Path) -> None:
    log = timed_log(tmp_path / "a.jsonl", [1.0, 2.0, 3.0])

    def watch(requests: Any) -> Any:
        yield next(requests)
        raise Interrupted("enough")

    with pytest.raises(Interrupted):
        find_cut([log], None, 300.0, watch=watch)


def test_learning_never_sees_the_window(log: str) -> None:
    for until, window_s in (("1h", 60.0), ("2h", 1800.0), (None, 600.0)):
        cut = find_cut([log], until, window_s)
        parts = Split(read_requests([log], report=ReadReport()), cut)
        profile = mine(parts.learnt(), renderer_for(Rendering()))
        assert profile.end_s < cut.until_s
        assert all(cut.until_s <= (each.time_s or 0.0) < cut.until_s + cut.window_s for each in parts.later)
