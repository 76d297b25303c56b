"""``preheat replay``: a window of a log as measured load."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import (
    OUTPUT_TOKENS,
    Duration,
    ResultFile,
    SpeedType,
    engine_options,
    log_format_option,
    output_options,
    template_option,
    window_option,
)
from preheat.cli.progress import Reporter
from preheat.cli.warm import numbered

if TYPE_CHECKING:
    from preheat.records.run import ReplayRun


@click.command()
@click.argument("log", metavar="LOG")
@click.option("--engine", multiple=True, required=True, metavar="URL|embedded", help="May repeat.")
@click.option("--from", metavar="TIME", help="Where the window begins (default: the log's start).")
@window_option()
@click.option("--speed", type=SpeedType(), default="1.0", show_default=True, help="Factor, 'auto' or 'fastest'.")
@click.option("--max-time", type=Duration(), help="Longest replay; what does not fit is left out and said.")
@click.option("--output-tokens", type=OUTPUT_TOKENS, default=16, show_default=True, help="Generated per request.")
@click.option("--plan", type=click.Path(), help="Say which plan item covers each request.")
@click.option("--label", default="run", show_default=True, help="What the report calls this run: cold, warm, ...")
@click.option("--salted", is_flag=True, help="Keep this traffic's cache entries apart from all other traffic.")
@click.option("-o", "--output", type=ResultFile(), default="run.json", show_default=True, metavar="FILE")
@log_format_option
@template_option
@engine_options
@output_options
def replay(log: str, **flags: Any) -> int:
    """Send the log's requests to an engine at their recorded spacing and measure each one."""
    from preheat.cli.outputs import refuse_overwriting
    from preheat.cli.show import print_json
    from preheat.cli.wiring import run_until_stopped, spooled

    refuse_overwriting({"-o": flags["output"]}, (log, *filter(None, [flags["plan"]])))
    with spooled((log,)) as paths:
        runs = run_until_stopped(lambda stop: _replay(paths[0], flags, stop))
    for run in runs:
        print_json(run) if flags["json"] else print_run(run)
    return 0


def print_run(run: ReplayRun) -> None:
    """One replay for people: what was sent, every metric with its denominator, why requests failed."""
    from preheat.cli.show import print_facts, print_note, print_reasons
    from preheat.judge.judge import judge
    from preheat.judge.values import show
    from preheat.records.units import show_moment, show_seconds

    evidence = judge(cold=None, warm=run, title=run.label)
    facts: dict[str, object] = {
        "sent": f"{len(run.requests)} of {run.window_requests} requests of the {show_seconds(run.window_s)} from "
        f"{show_moment(run.from_s)} of the log, at {run.speed:.3g} x the recorded pace, "
        f"in {show_seconds(run.duration_s)}"
    }
    for metric in evidence.warm:
        if metric.value is not None:
            facts[metric.title] = f"{show(metric.value, metric.unit)} ({metric.denominator})"
    print_facts(f"replay '{run.label}' on {run.engine.url}", facts)
    failed = Counter(request.error for request in run.requests if request.error is not None)
    print_reasons(failed, "failed: ")
    for note in run.notes:
        print_note(note)


async def _replay(log: str, flags: dict[str, Any], stop: asyncio.Event) -> list[ReplayRun]:
    from preheat.cli.wiring import engine_settings, engines, rendering_from
    from preheat.files.versioned import load, save
    from preheat.records.plan import Plan
    from preheat.replay.settings import ReplaySettings
    from preheat.stages import Stages

    plan = load(flags["plan"], Plan) if flags["plan"] else None
    connection = engine_settings(flags)
    speed = flags["speed"]
    settings = ReplaySettings(
        window_s=flags["window"],
        speed=speed if isinstance(speed, float) else None,
        hurry=speed == "fastest",
        max_time_s=flags["max_time"],
        output_tokens=flags["output_tokens"],
    )
    rendering = rendering_from(flags["model"]) or (plan.rendering if plan else None)
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        stages = Stages(reporter.progress, reporter.say, stop)
        later = await stages.window(log, flags["format"], flags["from"] or "0s", flags["window"])
        async with engines(flags["engine"], flags["engine_kind"], connection) as found:

            async def one(number: int) -> ReplayRun:
                target = await stages.target(found[number], rendering)
                pace = await stages.pace(later, target, target.speed.cost.chars_per_token, settings)
                run = await stages.replay(
                    flags["label"], found[number], pace, plan, settings, apart=flags["salted"], log=Path(log).name
                )
                save(numbered(Path(flags["output"]), number), run)
                return run

            return list(await asyncio.gather(*(one(number) for number in range(len(found)))))
