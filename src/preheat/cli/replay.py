"""``preheat replay``: a window of a log as measured load."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import (
    Duration,
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
@click.option("--engine", "urls", multiple=True, required=True, metavar="URL|embedded", help="May repeat.")
@click.option("--from", "since", metavar="TIME", help="Where the window begins (default: the log's start).")
@window_option()
@click.option("--speed", type=SpeedType(), default="1.0", show_default=True, help="Factor, 'auto' or 'fastest'.")
@click.option("--max-time", type=Duration(), help="Longest replay; what does not fit is left out and said.")
@click.option("--output-tokens", type=click.IntRange(1), default=16, show_default=True, help="Generated per request.")
@click.option("--plan", "plan_path", type=click.Path(), help="Say which plan item covers each request.")
@click.option("--label", default="run", show_default=True, help="What the report calls this run: cold, warm, ...")
@click.option("--salted", is_flag=True, help="Keep this traffic's cache entries apart from all other traffic.")
@click.option("-o", "--output", default="run.json", show_default=True, metavar="FILE")
@log_format_option
@template_option
@engine_options
@output_options
def replay(log: str, **flags: Any) -> int:
    """Send the log's requests to an engine at their recorded spacing and measure each one."""
    from preheat.cli.show import print_json
    from preheat.cli.wiring import run_until_stopped

    runs = run_until_stopped(lambda stop: _replay(log, flags, stop))
    for run in runs:
        if flags["as_json"]:
            print_json(run)
        else:
            from preheat.judge.judge import judge
            from preheat.judge.report_terminal import print_report

            print_report(judge(cold=None, warm=run, title=f"Replay: {run.label}"))
    return 0


async def _replay(log: str, flags: dict[str, Any], stop: asyncio.Event) -> list[ReplayRun]:
    from preheat.cli.wiring import engine_settings, engines, rendering_from
    from preheat.files.versioned import load, save
    from preheat.read.reader import read_requests
    from preheat.read.split import Split, find_cut
    from preheat.records.plan import Plan
    from preheat.records.request import ReadReport
    from preheat.replay.settings import ReplaySettings
    from preheat.stages import Later, Stages

    plan = load(flags["plan_path"], Plan) if flags["plan_path"] else None
    connection = engine_settings(
        **{
            name: flags[name]
            for name in ("api_key_env", "header", "ca_cert", "client_cert", "client_key", "model_name")
        }
    )
    speed = flags["speed"]
    settings = ReplaySettings(
        window_s=flags["window"],
        speed=speed if isinstance(speed, float) else None,
        hurry=speed == "fastest",
        max_time_s=flags["max_time"],
        output_tokens=flags["output_tokens"],
    )
    cut = find_cut([log], flags["since"] or "0s", flags["window"], flags["log_format"])
    split = Split(read_requests([log], format=flags["log_format"], report=ReadReport()), cut)
    for _ in split.learnt():
        pass
    rendering = rendering_from(flags["template"]) or (plan.rendering if plan else None)
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        stages = Stages(reporter.progress, reporter.say, stop)
        async with engines(flags["urls"], flags["engine_kind"], connection) as found:

            async def one(number: int) -> ReplayRun:
                target = await stages.target(found[number], rendering)
                pace = await stages.pace(Later(split.later, cut), target, target.speed.cost.chars_per_token, settings)
                run = await stages.replay(
                    flags["label"], found[number], pace, plan, settings, apart=flags["salted"], log=Path(log).name
                )
                save(numbered(Path(flags["output"]), number), run)
                return run

            return list(await asyncio.gather(*(one(number) for number in range(len(found)))))
