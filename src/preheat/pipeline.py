"""The main path: read → mine → plan → warm → replay → judge. Everything else is in the stages' own packages."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from preheat.engines.engine import Engine
from preheat.errors import Interrupted
from preheat.judge.judge import judge
from preheat.mine.settings import MineSettings
from preheat.plan.settings import PlanSettings
from preheat.records.evidence import Evidence
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport
from preheat.records.run import ReplayRun, WarmRun
from preheat.replay.settings import ReplaySettings
from preheat.stages import Stages, both
from preheat.warm.settings import WarmSettings


@dataclass(frozen=True)
class Job:
    """What ``preheat up`` is asked to do. ``until``: learn from before it, replay after; ``None``: the last window."""

    logs: list[str]
    format: str | None = None
    until: str | None = None
    rendering: Rendering | None = None
    mine: MineSettings = field(default_factory=MineSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    warm: WarmSettings = field(default_factory=WarmSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    dry_run: bool = False
    title: str = "What warming bought"


@dataclass(frozen=True)
class Fleet:
    """``warmed`` is the replica to warm; ``cold`` a second, empty one. Without it, the first is first measured cold,
    in a cache namespace of its own, and then warmed."""

    warmed: Engine
    cold: Engine | None = None


@dataclass
class Result:
    """What a job has come to so far; later stages fill in what earlier ones left ``None``."""

    report: ReadReport
    profile: Profile | None = None
    plan: Plan | None = None
    warm_run: WarmRun | None = None
    cold: ReplayRun | None = None
    warm: ReplayRun | None = None
    evidence: Evidence | None = None


async def up(job: Job, fleet: Fleet, result: Result, stages: Stages, save: Callable[[Result], None]) -> Result:
    """The whole job. ``save`` is called after each stage, so that an end at any time leaves what was reached."""
    if fleet.cold is not None:
        await fleet.cold.describe()  # one that is not there is found out now, not after the warm-up
    target = await stages.target(fleet.warmed, job.rendering)
    result.profile, later = await stages.learn(
        job.logs, job.format, job.until, target, job.mine, job.replay, result.report
    )
    save(result)
    result.plan = await stages.plan(result.profile, job.plan, target, job.warm, later.cut)
    save(result)
    if job.dry_run:
        return result
    window = replace(job.replay, window_s=later.cut.window_s)
    pace = await stages.pace(later, target, result.plan.cost.chars_per_token, window)

    def replayed(label: str, engine: Engine, apart: bool = False) -> Coroutine[Any, Any, ReplayRun]:
        return stages.replay(label, engine, pace, result.plan, window, apart=apart, log=" ".join(job.logs))

    def keep(run: WarmRun) -> None:
        result.warm_run = run
        save(result)

    if fleet.cold is None:
        result.cold = await replayed("cold", fleet.warmed, apart=True)
    if not (await stages.warm(result.plan, fleet.warmed, job.warm, keep)).complete:
        raise Interrupted(
            "interrupted while warming", "what was reached is saved; 'preheat warm' goes on with --resume"
        )
    if fleet.cold is None:
        result.warm = await replayed("warm", fleet.warmed)
    else:
        result.cold, result.warm = await both(replayed("cold", fleet.cold), replayed("warm", fleet.warmed))
    assert result.warm_run is not None
    unused = await stages.redundancy(job.logs, job.format, result.plan, result.warm_run)
    result.evidence = judge(
        cold=result.cold,
        warm=result.warm,
        warm_run=result.warm_run,
        plan=result.plan,
        profile=result.profile,
        redundancy=unused,
        title=job.title,
    )
    save(result)
    return result
