"""Each stage of the main path as one call: what the command line and :mod:`preheat.pipeline` both stand on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from preheat.engines.calibrate import Speed, calibrate
from preheat.engines.engine import Engine, rendering_of
from preheat.errors import EngineFailed, Interrupted
from preheat.files.versioned import digest
from preheat.judge.redundancy import LaterPrompt, Redundancy, redundancy, warmed_ids
from preheat.mine.settings import MineSettings
from preheat.plan.planner import Measure, make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.render import PromptNotRenderable, Renderer, renderer_for
from preheat.read.reader import read_requests
from preheat.read.split import Cut, Split, find_cut, timed
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import ReadReport, Request
from preheat.records.run import ReplayRun, WarmRun
from preheat.records.target import EngineInfo
from preheat.replay.coverage import coverage_of
from preheat.replay.loads import weigh
from preheat.replay.pace import Pace, choose_pace
from preheat.replay.player import Player
from preheat.replay.settings import ReplaySettings
from preheat.warm.journal import WarmJournal
from preheat.warm.runner import Warmer
from preheat.warm.settings import WarmSettings

Progress = Callable[[str, int, int], None]
"""``(stage, done, total)``, ``total`` 0 where it is not known."""
_SEE_LOG = "see the engine's own log"
_ENOUGH_TOKENS = 512
"""What a warm-up must have computed before its speed counts as measured."""
Say = Callable[[str], None]
"""One line about what was found or decided."""


@dataclass(frozen=True)
class Target:
    """The engine that everything is for: what it says of itself, how it renders, how fast it is."""

    engine: Engine
    info: EngineInfo
    renderer: Renderer
    speed: Speed


@dataclass(frozen=True)
class Later:
    """The window to replay."""

    requests: list[Request]
    cut: Cut
    notes: list[str] = field(default_factory=list)
    """What was assumed about them."""


@dataclass(frozen=True)
class Stages:
    """What all stages share: where progress goes, what ends them early, where a warm-up's journal lies."""

    progress: Progress
    say: Say
    stop: asyncio.Event
    journal: Path | None = None

    async def target(self, engine: Engine, rendering: Rendering | None = None) -> Target:
        """Ask the engine what it is and measure what a token costs on it."""
        info = await engine.describe()
        rendering = rendering or rendering_of(info) or Rendering()
        speed = await calibrate(engine, info)
        cost = speed.cost
        self.say(
            f"engine: {info.kind} {info.model} at {info.url}, {cost.prefill_ms_per_token:.3g} ms per prompt token, "
            f"prompts rendered by {rendering.name}"
        )
        return Target(engine, await engine.describe(), renderer_for(rendering), speed)

    async def learn(
        self,
        logs: list[str],
        format: str | None,
        until: str | None,
        target: Target,
        settings: MineSettings,
        window: ReplaySettings,
        report: ReadReport,
    ) -> tuple[Profile, Later]:
        """Read the log once: mine what lies before the cut, keep what lies in the window after it."""
        from preheat.mine.miner import mine  # brings scipy, which the other stages do without

        def work() -> tuple[Profile, Later]:
            cut = find_cut(logs, until, window.window_s, format, self._stoppable)
            split = Split(self._counted(read_requests(logs, format=format, report=report), report), cut)
            profile = mine(split.learnt(), target.renderer, settings, report)
            return profile, Later(split.later, cut, _assumed(report))

        profile, later = await asyncio.to_thread(work)
        self.progress("read", report.requests, report.requests)
        self.say(
            f"learnt from {profile.requests} requests of {len(profile.tenants)} tenants, {profile.blocks} blocks of "
            f"{profile.block_chars} characters, {profile.distinct_blocks} distinct; "
            f"{len(later.requests)} requests after the cut"
        )
        for note in (*later.notes, *(f"noted {count} x {what}" for what, count in sorted(report.noted.items()))):
            self.say(note)
        for reason, count in sorted(profile.skipped.items()):
            self.say(f"skipped {count} x {reason}")
        return profile, later

    async def window(self, log: str, format: str | None, since: str, window_s: float) -> Later:
        """The window alone, from ``since`` on."""

        def work() -> Later:
            cut = find_cut([log], since, window_s, format, self._stoppable)
            report = ReadReport()
            split = Split(self._stoppable(read_requests([log], format=format, report=report)), cut)
            for _ in split.learnt():
                pass
            return Later(split.later, cut, _assumed(report))

        later = await asyncio.to_thread(work)
        for note in later.notes:
            self.say(note)
        return later

    async def plan(
        self, profile: Profile, settings: PlanSettings, target: Target, warm: WarmSettings, cut: Cut
    ) -> Plan:
        """Choose what to warm for a start at the cut, with the engine's own tokenizer and speed."""
        if settings.at_s is None:
            settings = replace(settings, at_s=cut.until_s, window_s=cut.window_s)
        if settings.budget_ms is None and warm.max_time_s is not None:
            settings = replace(settings, budget_ms=warm.max_time_s * 1000)
        plan = await make_plan(
            profile,
            settings,
            profile_hash=digest(profile),
            cost=target.speed.cost,
            engine=target.info,
            measure=measure_with(target.engine),
        )
        self.say(
            f"plan: {len(plan.items)} prefixes, {plan.distinct_tokens} tokens, {plan.cost_ms / 1000:.1f} s of prefill, "
            f"{plan.bytes / 2**20:.0f} MiB"
        )
        return plan

    async def pace(self, later: Later, target: Target, chars_per_token: float, settings: ReplaySettings) -> Pace:
        """How fast to replay the window, and how much of it."""
        skipped: dict[str, int] = {}
        loads = await weigh(later.requests, target.renderer, target.engine, chars_per_token, skipped)
        cost = target.speed.cost
        pace = choose_pace(
            loads,
            settings,
            ms_per_token=cost.prefill_ms_per_token,
            fixed_ms=cost.fixed_ms,
            ms_per_output=target.speed.ms_per_output,
        )
        notes = [*pace.notes, *(f"{count} requests left out, {reason}" for reason, count in skipped.items())]
        for note in notes:
            self.say(note)
        return pace._replace(notes=[*later.notes, *notes], window_requests=len(later.requests))

    async def warm(
        self, plan: Plan, engine: Engine, settings: WarmSettings, save: Callable[[WarmRun], None]
    ) -> WarmRun:
        """Warm and verify. After a signal the run is not ``complete``, and its journal is kept for ``--resume``.

        ``save`` keeps the result; only then does the journal of a complete run go.
        """
        journal = WarmJournal(self.journal) if self.journal else None
        run = await Warmer(plan, engine, settings, journal=journal, stop=self.stop, progress=self.progress).run()
        save(run)
        if journal and run.complete:
            journal.remove()
        counts = ", ".join(f"{count} {status}" for status, count in run.counts.items())
        self.say(
            f"warmed in {run.duration_s:.1f} s: {counts or 'nothing to warm'}; {run.tokens_computed} tokens computed"
        )
        return run

    async def replay(
        self,
        label: str,
        engine: Engine,
        pace: Pace,
        plan: Plan | None,
        settings: ReplaySettings,
        *,
        apart: bool = False,
        renderer: Renderer | None = None,
        log: str = "",
    ) -> ReplayRun:
        """Send the window's requests to one engine; ``apart`` keeps them out of the cache that others use."""
        if plan is not None:
            renderer = renderer or renderer_for(plan.rendering)
        times = [request.time_s or 0.0 for request in pace.requests]
        run = await Player(
            pace.requests,
            engine,
            settings,
            label=label,
            log=log,
            from_s=times[0] if times else 0.0,
            speed=pace.speed,
            namespace=f"preheat-{uuid.uuid4().hex[:12]}" if apart else None,
            coverage=coverage_of(plan, renderer) if plan is not None and renderer is not None else None,
            stop=self.stop,
            progress=self.progress,
        ).run(pace.notes, pace.window_requests)
        if self.stop.is_set():
            raise Interrupted("interrupted during the replay", "what was warmed is kept; run the replay again")
        failed = sum(request.error is not None for request in run.requests)
        busy = "" if run.busy is None else f", engine {run.busy:.0%} busy"
        if run.requests and failed == len(run.requests):
            raise EngineFailed(f"all {failed} requests of the replay failed: {run.requests[0].error}", _SEE_LOG)
        self.say(f"{label}: {len(run.requests)} requests in {run.duration_s:.1f} s{busy}, {failed} failed")
        return run

    async def replay_two(
        self,
        cold: Engine,
        warmed: Engine,
        pace: Pace,
        plan: Plan,
        settings: ReplaySettings,
        *,
        log: str,
        at_once: bool,
    ) -> tuple[ReplayRun, ReplayRun]:
        """The same requests to a cold and a warmed replica: side by side, or one after the other."""
        runs = [
            self.replay(label, engine, pace, plan, settings, log=log)
            for label, engine in (("cold", cold), ("warm", warmed))
        ]
        done = await both(runs[0], runs[1]) if at_once else [await run for run in runs]
        return done[0], done[1]

    def timed_by(self, target: Target, run: WarmRun) -> Target:
        """The same target with the prefill speed that a warm-up had, which says more than a short calibration."""
        tokens = sum(item.computed_tokens for item in run.items)
        if tokens < _ENOUGH_TOKENS:
            return target
        per_token = sum(item.warm_ms for item in run.items) / tokens
        cost = msgspec.structs.replace(target.speed.cost, prefill_ms_per_token=per_token, fixed_ms=0.0)
        return replace(target, speed=msgspec.structs.replace(target.speed, cost=cost))

    async def redundancy(
        self, logs: list[str], format: str | None, plan: Plan, run: WarmRun, renderer: Renderer | None = None
    ) -> Redundancy:
        """Which warmed blocks the log asks for within a day of the start: the log is read once more."""
        renderer = renderer or renderer_for(plan.rendering)

        def work() -> Redundancy:
            report = ReadReport()
            requests = self._counted(timed(read_requests(logs, format=format, report=report)), report)
            prompts = _rendered((each for each in requests if (each.time_s or 0.0) >= plan.at_s), renderer)
            return redundancy(
                plan.items, prompts, start_s=plan.at_s, block_chars=plan.block_chars, warmed=warmed_ids(run)
            )

        return await asyncio.to_thread(work)

    def _counted(self, requests: Iterator[Request], report: ReadReport) -> Iterator[Request]:
        for number, request in enumerate(self._stoppable(requests)):
            if number % 2_000 == 0:
                self.progress("read", report.requests, 0)
            yield request

    def _stoppable(self, requests: Iterator[Request]) -> Iterator[Request]:
        """So that a thread that reads ends soon after a signal."""
        for request in requests:
            if self.stop.is_set():
                raise Interrupted("interrupted while reading", "start again")
            yield request


async def both(cold: Coroutine[Any, Any, ReplayRun], warm: Coroutine[Any, Any, ReplayRun]) -> list[ReplayRun]:
    """Two replays at once. When one fails, the other is let go, and the fault is the first one's."""
    tasks = [asyncio.create_task(cold), asyncio.create_task(warm)]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def measure_with(engine: Engine) -> Measure:
    """A token counter for the planner."""

    async def measure(prefixes: Sequence[Prefix]) -> list[int] | None:
        counted = await engine.shared_tokens(prefixes)
        return None if counted is None else [len(ids) for ids in counted]

    return measure


def _assumed(report: ReadReport) -> list[str]:
    """What :func:`preheat.read.split.timed` made up."""
    if report.first_s is not None or not report.requests:
        return []
    return ["the log has no times: its requests are taken to come one a second, in its order"]


def _rendered(requests: Iterator[Request], renderer: Renderer) -> Iterator[LaterPrompt]:
    for request in requests:
        try:
            yield LaterPrompt(request.time_s, renderer.render(request), request.model, request.adapter)
        except PromptNotRenderable:
            continue
