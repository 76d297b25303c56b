"""``preheat up``: the whole job in one command."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import (
    OUTPUT_TOKENS,
    Duration,
    ResultFile,
    Share,
    Size,
    SpeedType,
    engine_options,
    log_format_option,
    output_options,
    template_option,
    window_option,
)
from preheat.cli.progress import Reporter

if TYPE_CHECKING:
    from preheat.job import Job, Result


@click.command()
@click.option("--logs", multiple=True, required=True, metavar="PATH", help="Log file, folder, glob or -; may repeat.")
@click.option(
    "--engine",
    multiple=True,
    required=True,
    metavar="URL|embedded",
    help="Engine to warm. 'embedded' starts two llama.cpp replicas, one cold, one warmed. With two URLs the first "
    "is warmed and the second stays cold; with one it is measured cold (in a cache namespace of its own) first.",
)
@click.option("--until", metavar="TIME", help="Learn from before, replay after: ISO 8601, epoch seconds, or 24h.")
@window_option()
@click.option("--budget", type=Size(), help="Cache memory for the warm set, such as 4GiB.")
@click.option("--max-time", type=Duration(), default="10m", show_default=True, help="Time for warming.")
@click.option("--strategy", default="preheat", show_default=True, help="Which strategy plans (see 'plan --help').")
@click.option("--verify-target", type=Share(), default=0.95, show_default=True)
@click.option(
    "--speed",
    type=SpeedType(),
    default="auto",
    show_default=True,
    help="Replay speed: 1.0 as recorded, 'auto' slowed where the engine needs it, 'fastest' what it bears.",
)
@click.option("--replay-time", type=Duration(), default="5m", show_default=True, help="Longest replay per replica.")
@click.option("--output-tokens", type=OUTPUT_TOKENS, default=16, show_default=True, help="Generated per request.")
@click.option("--dry-run", is_flag=True, help="Stop after the plan; warm nothing.")
@click.option("--fail-on", metavar="EXPR", help="Exit 3 when this holds, such as 'ttft_mean_ratio<2'.")
@click.option("--model-alias", multiple=True, metavar="LOG=ENGINE", help="The log's model name = the engine's.")
@click.option("-o", "--output", type=ResultFile(), default="preheat-out", show_default=True, metavar="DIR")
@log_format_option
@template_option
@engine_options
@output_options
def up(**flags: Any) -> int:
    """The whole job: learn from a log, warm an engine, prove it, replay the same later requests cold and warm, report.

    Writes profile.json.zst, plan.json, warm.json, cold-run.json, warm-run.json, evidence.json and report.html.
    """
    from preheat.cli.wiring import run_until_stopped, spooled
    from preheat.judge.fail_on import parse

    folder = Path(flags["output"])
    _check_engines(flags["engine"])
    if flags["fail_on"]:
        parse(flags["fail_on"])  # now, and not after the whole job
    with spooled(flags["logs"]) as logs:
        result = run_until_stopped(lambda stop: _up(flags | {"logs": logs}, folder, stop))
    return _finish(result, folder, flags)


def _check_engines(urls: tuple[str, ...]) -> None:
    """One engine, two, or ``embedded`` alone. Raises :class:`click.UsageError`."""
    from preheat.cli.wiring import EMBEDDED

    if len(urls) > 2:
        raise click.UsageError(f"{len(urls)} engines are given; at most two: the replica to warm and a cold one")
    if len(urls) == 2 and EMBEDDED in urls:
        raise click.UsageError(f"'--engine {EMBEDDED}' starts both replicas by itself: give it alone, or two URLs")
    if len({url.rstrip("/").removesuffix("/v1") for url in urls}) < len(urls):
        raise click.UsageError(f"both engines are {urls[0]}: the cold one must be another replica, or give it once")


async def _up(flags: dict[str, Any], folder: Path, stop: asyncio.Event) -> Result:
    from preheat.cli.wiring import EMBEDDED, engine_settings, engines
    from preheat.job import Fleet, Result
    from preheat.pipeline import up
    from preheat.records.request import ReadReport
    from preheat.stages import Stages

    settings = engine_settings(flags)
    job, result = _job(flags, click.get_current_context().obj), Result(ReadReport())
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        stages = Stages(reporter.progress, reporter.say, stop, folder / "warm.json")
        replicas = 1 if flags["dry_run"] else 2
        if flags["engine"] == (EMBEDDED,):
            reporter.say(f"starting {replicas} embedded llama.cpp replica(s)")
        async with engines(flags["engine"], flags["engine_kind"], settings, replicas) as found:
            fleet = Fleet(found[0], found[1] if len(found) > 1 else None, at_once=EMBEDDED not in flags["engine"])
            return await up(job, fleet, result, stages, lambda reached: save(reached, folder))


def _job(flags: dict[str, Any], typed: list[str]) -> Job:
    from preheat.cli.plan import aliases
    from preheat.cli.typed import command_line
    from preheat.cli.wiring import EMBEDDED, EMBEDDED_CACHE_MIB, rendering_from
    from preheat.job import Job
    from preheat.plan.settings import PlanSettings
    from preheat.replay.settings import ReplaySettings
    from preheat.warm.settings import WarmSettings

    budget = flags["budget"]
    if EMBEDDED in flags["engine"]:
        held = int(0.8 * EMBEDDED_CACHE_MIB * 2**20)
        budget = held if budget is None else min(budget, held)
    speed = flags["speed"]
    return Job(
        logs=flags["logs"],
        format=flags["format"],
        until=flags["until"],
        rendering=rendering_from(flags["model"]),
        plan=PlanSettings(
            strategy=flags["strategy"],
            budget_bytes=budget,
            window_s=flags["window"],
            model_aliases=aliases(flags["model_alias"]),
        ),
        warm=WarmSettings(max_time_s=flags["max_time"], verify_target=flags["verify_target"]),
        replay=ReplaySettings(
            window_s=flags["window"],
            speed=speed if isinstance(speed, float) else None,
            hurry=speed == "fastest",
            max_time_s=flags["replay_time"],
            output_tokens=flags["output_tokens"],
        ),
        dry_run=flags["dry_run"],
        command_lines=[command_line(typed)],
    )


def save(result: Result, folder: Path) -> None:
    """Write what has been reached."""
    from preheat.files.versioned import save as write
    from preheat.judge.report_html import write_report

    for name, record in (
        ("profile.json.zst", result.profile),
        ("plan.json", result.plan),
        ("warm.json", result.warm_run),
        ("cold-run.json", result.cold),
        ("warm-run.json", result.warm),
    ):
        if record is not None:
            write(folder / name, record)
    if result.evidence is not None:
        write_report(result.evidence, folder)


def _finish(result: Result, folder: Path, flags: dict[str, Any]) -> int:
    from preheat.cli.plan import print_plan
    from preheat.cli.show import print_json

    assert result.plan is not None
    if result.evidence is None:
        print_json(result.plan) if flags["json"] else print_plan(result.plan)
        return 0
    evidence = result.evidence
    if flags["fail_on"]:
        from preheat.judge.fail_on import fail_on

        evidence = result.evidence = fail_on(evidence, flags["fail_on"])
        save(result, folder)
    if flags["json"]:
        print_json(evidence)
    else:
        from preheat.judge.report_terminal import print_report

        print_report(evidence)
        click.echo(f"report: {folder / 'report.html'}   evidence: {folder / 'evidence.json'}")
    return 0 if all(evidence.promises.values()) else 3
