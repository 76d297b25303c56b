"""The main path: read → mine → plan → warm → replay → judge. Everything else is in the stages' own packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from preheat.errors import Interrupted
from preheat.job import Fleet, Job, Result
from preheat.judge.judge import judge
from preheat.stages import Stages


async def up(job: Job, fleet: Fleet, result: Result, stages: Stages, save: Callable[[Result], None]) -> Result:
    """The whole job. ``save`` is called after each stage, so that an end at any time leaves what was reached."""
    if fleet.cold is not None:
        await fleet.cold.describe()  # one that is not there is found out now, not after the warm-up
    target = await stages.target(fleet.warmed, job.rendering)
    result.profile, later = await stages.learn(
        job.logs, job.format, job.until, target, job.mine, job.replay, result.report
    )
    save(result)
    result.plan = plan = await stages.plan(result.profile, job.plan, target, job.warm, later.cut)
    save(result)
    if job.dry_run:
        return result
    window, log = replace(job.replay, window_s=later.cut.window_s), " ".join(job.logs)
    if fleet.cold is None:
        pace = await stages.pace(later, target, plan.cost.chars_per_token, window)
        result.cold = await stages.replay("cold", fleet.warmed, pace, plan, window, log=log, apart=True)
    result.warm_run = await stages.warm(plan, fleet.warmed, job.warm, lambda run: save(replace(result, warm_run=run)))
    if not result.warm_run.complete:
        raise Interrupted("interrupted while warming", "what was reached is saved; 'preheat warm' has --resume")
    if fleet.cold is None:
        result.warm = await stages.replay("warm", fleet.warmed, pace, plan, window, log=log)
    else:
        measured = stages.timed_by(target, result.warm_run)  # a warm-up is the best measure of speed that there is
        pace = await stages.pace(later, measured, plan.cost.chars_per_token, window)
        result.cold, result.warm = await stages.replay_two(
            fleet.cold, fleet.warmed, pace, plan, window, log=log, at_once=fleet.at_once
        )
    unused = await stages.redundancy(job.logs, job.format, plan, result.warm_run)
    result.evidence = judge(
        cold=result.cold,
        warm=result.warm,
        warm_run=result.warm_run,
        plan=plan,
        profile=result.profile,
        redundancy=unused,
        title=job.title,
        command_lines=job.command_lines or None,
    )
    save(result)
    return result
