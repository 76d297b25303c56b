"""``preheat mine``: log → profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import (
    ResultFile,
    asked_engine_option,
    engine_options,
    log_format_option,
    output_options,
    template_option,
)
from preheat.cli.outputs import refuse_overwriting
from preheat.cli.profile_facts import measures, remarks, summary
from preheat.cli.progress import Reporter
from preheat.cli.wiring import spooled
from preheat.errors import BadInput

if TYPE_CHECKING:
    from preheat.cli.model import Model
    from preheat.mine.settings import MineSettings
    from preheat.records.profile import Profile
    from preheat.records.request import ReadReport, Request


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--until", metavar="TIME", help="Leave out what comes at or after: ISO 8601, epoch seconds, or 24h.")
@click.option("--no-text", is_flag=True, help="Keep hashes only; such a profile cannot be planned from.")
@click.option("--on", metavar="CLUSTER", help="Mine on Ray: local, HOST:PORT or ray://HOST:PORT; the same profile.")
@click.option("--drop-tenant", multiple=True, metavar="NAME", help="Take this tenant out of the profile; may repeat.")
@click.option("--gexf", type=ResultFile(), metavar="FILE", help="Also write the token-flow graph, which Gephi opens.")
@click.option("--report", type=ResultFile(), metavar="FILE", help="Also write a page (HTML) of what the log holds.")
@click.option(
    "--breaks", type=click.IntRange(0), default=5, show_default=True, help="Places where prefixes break to show."
)
@click.option("-o", "--output", type=ResultFile(), default="profile.json.zst", show_default=True, metavar="FILE")
@log_format_option
@template_option
@asked_engine_option
@engine_options
@output_options
def mine(paths: tuple[str, ...], **flags: Any) -> int:
    """Log → profile: a prefix tree over the rendered prompts, with tenants, adapters, arrival times and clusters.

    A PATH may also be a profile of an earlier time: then what the logs hold is added to it. With a tokenizer (--model,
    --engine) the profile says how many tokens its prefixes have.
    """
    from preheat.cli.breaks import print_breaks, shown_breaks
    from preheat.cli.model import model_of
    from preheat.cli.show import print_facts, print_json
    from preheat.cli.views import check_views, write_views
    from preheat.files.versioned import load, save
    from preheat.mine.merge import merge, without_tenants
    from preheat.mine.settings import MineSettings
    from preheat.records.profile import Profile
    from preheat.records.request import ReadReport

    report = ReadReport()
    check_views(flags)
    refuse_overwriting({"-o": flags["output"], "--report": flags["report"], "--gexf": flags["gexf"]}, paths, "-o")
    with spooled(paths) as files:
        logs, earlier = _apart(files)
        if flags["until"] and not logs:
            raise BadInput("--until cuts a log, and only profiles were named", "name a log")
        profiles = [load(path, Profile) for path in earlier]
        with model_of(flags, profiles[0].rendering if profiles else None) as model:
            settings = MineSettings(keep_text=not flags["no_text"] or model.text_counts is not None)
            if logs:
                profiles.append(_mined(logs, model, settings, flags, report, derived=not earlier))
            profile = profiles[0] if logs and len(profiles) == 1 else merge(profiles, settings)
            if flags["drop_tenant"]:
                profile = without_tenants(profile, flags["drop_tenant"], settings)
            profile = _with_tokens(profile, model, keep_text=not flags["no_text"])
    save(flags["output"], profile)
    write_views(profile, flags, paths, model.word_pieces)
    if flags["json"]:
        print_json(measures(profile) | {"noted": report.noted, "breaks": shown_breaks(profile, flags["breaks"])})
    else:
        print_facts(f"profile: {flags['output']}", summary(profile, model.uncounted) | remarks(report))
        print_breaks(profile, flags["breaks"])
    return 0


def _with_tokens(profile: Profile, model: Model, *, keep_text: bool) -> Profile:
    """The profile with tokens where there is a tokenizer; text that is not to be kept was kept until now for it."""
    from preheat.mine.derive import without_text
    from preheat.mine.tokens import count_tokens, sample_tokens

    if model.text_counts is None:
        return profile
    count = sample_tokens if model.is_asked else count_tokens
    profile = count(profile, model.text_counts, model.tokenizer)
    return profile if keep_text else without_text(profile)


def _apart(paths: list[str]) -> tuple[list[str], list[str]]:
    """Logs, and profiles of an earlier time."""
    from preheat.files.compressed import Damaged
    from preheat.files.locate import locate
    from preheat.files.versioned import schema_of
    from preheat.records.profile import SCHEMA

    logs: list[str] = []
    profiles: list[str] = []
    for file in locate(paths):
        try:
            schema = schema_of(file)
        except Damaged:  # the reader says so, and whether the others will do
            schema = None
        (profiles if schema == SCHEMA else logs).append(file)
    return logs, profiles


def _mined(
    logs: list[str], model: Model, settings: MineSettings, flags: dict[str, Any], report: ReadReport, *, derived: bool
) -> Profile:
    """What the logs hold; not yet ``derived`` from where it is to be added to an earlier profile."""
    from preheat.mine.miner import mine as run
    from preheat.prompts.render import renderer_for
    from preheat.read.reader import read_requests
    from preheat.read.split import find_cut

    renderer = renderer_for(model.rendering)
    until_s = find_cut(logs, flags["until"], 1.0, flags["format"]).until_s if flags["until"] else None
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        if flags["on"]:
            from preheat.distributed.mining import Job, mine_on

            job, say, form = Job(renderer.rendering, settings, until_s), reporter.progress, flags["format"]
            return mine_on(flags["on"], logs, job, format=form, report=report, progress=say, derived=derived)

        def wanted() -> Iterator[Request]:
            for number, request in enumerate(read_requests(logs, format=flags["format"], report=report)):
                if number % 2_000 == 0:
                    reporter.progress("mine", number, 0)
                if until_s is None or request.time_s is None or request.time_s < until_s:
                    yield request
            if until_s is not None and report.first_s is None and report.requests:
                raise BadInput("the log has no times, so that nothing in it is before --until", "leave out --until")

        return run(wanted(), renderer, settings, report, derived=derived)
