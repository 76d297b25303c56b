"""``preheat warm``: plan → proof."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import Duration, ResultFile, Share, engine_options, output_options
from preheat.cli.progress import Reporter
from preheat.cli.streams import remark
from preheat.errors import Interrupted

if TYPE_CHECKING:
    from preheat.records.plan import Plan
    from preheat.records.run import WarmRun


@click.command()
@click.argument("plan", type=click.Path())
@click.option("--engine", multiple=True, required=True, metavar="URL|embedded", help="May repeat (replicas).")
@click.option("--max-time", type=Duration(), default="10m", show_default=True, help="Time for warming.")
@click.option("--concurrency", type=click.IntRange(1), help="Prompts in flight (default: what the engine works on).")
@click.option("--verify-target", type=Share(), default=0.95, show_default=True)
@click.option("--timeout", type=Duration(), default="120s", show_default=True, help="When one request counts as hung.")
@click.option("--attempts", type=click.IntRange(1), default=4, show_default=True, help="Tries per item.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted run of this plan ended.")
@click.option("--dry-run", is_flag=True, help="Say what would be sent; send nothing.")
@click.option("-o", "--output", type=ResultFile(), default="warm.json", show_default=True, metavar="FILE")
@engine_options
@output_options
def warm(plan: str, **flags: Any) -> int:
    """Warm engines by a plan, then ask each engine itself what is resident. Exit 3 when that falls short.

    With several engines, the results are FILE, FILE-2, FILE-3 and so on, in their order.
    """
    from preheat.cli.outputs import refuse_overwriting
    from preheat.cli.plan import print_plan, totals
    from preheat.cli.show import one_line, print_json
    from preheat.cli.wiring import run_until_stopped
    from preheat.files.versioned import load
    from preheat.records.plan import Plan

    refuse_overwriting({"-o": flags["output"]}, [plan])
    loaded = load(plan, Plan)
    if flags["dry_run"]:
        print_json(totals(loaded)) if flags["json"] else print_plan(loaded)
        return 0
    reached = run_until_stopped(lambda stop: _warm(loaded, flags, stop))
    runs = [run for run in reached if not isinstance(run, BaseException)]
    for run in runs:
        print_json(run) if flags["json"] else print_run(run, loaded)
    faults = [fault for fault in reached if isinstance(fault, BaseException)]
    for fault in faults[1:]:
        remark(f"preheat: {one_line(fault)}")
    if faults:
        raise faults[0]
    if not all(run.complete for run in runs):
        raise Interrupted("interrupted while warming", "go on with --resume")
    return 0 if all(kept(run) for run in runs) else 3


def kept(run: WarmRun) -> bool:
    """Whether the promise of ``--verify-target`` holds; a plan with nothing to warm keeps it."""
    if not run.items:
        return True
    return run.residency is not None and run.residency >= run.verify_target


async def _warm(plan: Plan, flags: dict[str, Any], stop: asyncio.Event) -> list[WarmRun | BaseException]:
    """One result or fault per engine, in their order: one that fails does not end the others."""
    from preheat.cli.wiring import engine_settings, engines
    from preheat.files.versioned import save
    from preheat.stages import Stages
    from preheat.warm.journal import WarmJournal
    from preheat.warm.settings import WarmSettings

    connection = engine_settings(flags, timeout_s=flags["timeout"])
    settings = WarmSettings(
        max_time_s=flags["max_time"],
        concurrency=flags["concurrency"],
        verify_target=flags["verify_target"],
        attempts=flags["attempts"],
        request_timeout_s=flags["timeout"],
        resume=flags["resume"],
    )
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        async with engines(flags["engine"], flags["engine_kind"], connection) as found:

            async def one(number: int) -> WarmRun:
                path = numbered(Path(flags["output"]), number)
                stages = Stages(reporter.progress, reporter.say, stop, path)
                if flags["resume"] and not flags["quiet"] and not WarmJournal(path).path.exists():
                    remark(f"nothing to resume at {path}: starting afresh")
                return await stages.warm(plan, found[number], settings, lambda run: save(path, run))

            every = (one(number) for number in range(len(found)))
            return list(await asyncio.gather(*every, return_exceptions=True))


def numbered(path: Path, number: int) -> Path:
    """``warm.json`` for the first engine, ``warm-2.json`` for the second."""
    stem, dot, ending = path.name.partition(".")
    return path if number == 0 else path.with_name(f"{stem}-{number + 1}{dot}{ending}")


def print_run(run: WarmRun, plan: Plan | None = None) -> None:
    """A warm-up for people. With its ``plan``, it says whether that is more than the engine can hold."""
    from preheat.cli.show import print_facts, print_reasons
    from preheat.records.units import show_seconds

    proven = "nothing was attempted"
    if run.residency is not None:
        share = f"{run.residency:.1%} ({run.verified} of {len(run.attempted)} attempted items)"
        proven = f"{share}, target {run.verify_target:.1%}"
    ratio = f"{run.tokens_computed / run.distinct_tokens:.3f} x" if run.distinct_tokens else ""
    facts: dict[str, object] = {
        "proven resident": proven,
        "outcomes": ", ".join(f"{count} {status}" for status, count in sorted(run.counts.items())) or "none",
        "tokens computed": f"{run.tokens_computed} (probes included), {ratio} of {run.distinct_tokens} distinct ones",
        "took": show_seconds(run.duration_s),
    }
    print_facts(f"warm-up of {run.engine.url}", facts)
    reasons: dict[str, int] = {}
    for item in run.items:
        if item.reason:
            reasons[f"{item.status}: {item.reason}"] = reasons.get(f"{item.status}: {item.reason}", 0) + 1
    print_reasons(reasons)
    held = run.engine.capacity_tokens
    if plan is not None and held is not None and plan.distinct_tokens > held:
        click.echo(f"  the plan needs {plan.distinct_tokens} tokens, the engine holds {held}")
