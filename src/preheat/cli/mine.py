"""``preheat mine``: log → profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import ResultFile, log_format_option, output_options, template_option
from preheat.cli.progress import Reporter
from preheat.errors import BadInput

if TYPE_CHECKING:
    from preheat.records.profile import Profile
    from preheat.records.request import Request


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--until", metavar="TIME", help="Leave out what comes at or after: ISO 8601, epoch seconds, or 24h.")
@click.option("--no-text", is_flag=True, help="Keep hashes only; such a profile cannot be planned from.")
@click.option("--gexf", type=ResultFile(), metavar="FILE", help="Also write the token-flow graph, which Gephi opens.")
@click.option("-o", "--output", type=ResultFile(), default="profile.json.zst", show_default=True, metavar="FILE")
@log_format_option
@template_option
@output_options
def mine(paths: tuple[str, ...], **flags: Any) -> int:
    """Log → profile: a prefix tree over the rendered prompts, with tenants, adapters, arrival times and clusters."""
    from preheat.cli.show import print_facts, print_json
    from preheat.cli.views import check_views, write_views
    from preheat.cli.wiring import rendering_from, spooled
    from preheat.files.versioned import save
    from preheat.mine.miner import mine as run
    from preheat.mine.settings import MineSettings
    from preheat.prompts.render import renderer_for
    from preheat.read.reader import read_requests
    from preheat.read.split import find_cut
    from preheat.records.rendering import Rendering
    from preheat.records.request import ReadReport

    check_views(flags)
    report = ReadReport()
    renderer = renderer_for(rendering_from(flags["model"]) or Rendering())
    with Reporter(flags["progress"], flags["quiet"]) as reporter, spooled(paths) as logs:
        until_s = find_cut(logs, flags["until"], 1.0, flags["format"]).until_s if flags["until"] else None

        def wanted() -> Iterator[Request]:
            for number, request in enumerate(read_requests(logs, format=flags["format"], report=report)):
                if number % 2_000 == 0:
                    reporter.progress("mine", number, 0)
                if until_s is None or request.time_s is None or request.time_s < until_s:
                    yield request
            if until_s is not None and report.first_s is None and report.requests:
                raise BadInput("the log has no times, so that nothing in it is before --until", "leave out --until")

        profile = run(wanted(), renderer, MineSettings(keep_text=not flags["no_text"]), report)
    save(flags["output"], profile)
    write_views(profile, flags["gexf"])
    facts = summary(profile)
    print_json(facts) if flags["json"] else print_facts(f"profile: {flags['output']}", facts)
    return 0


def summary(profile: Profile) -> dict[str, object]:
    """What a profile amounts to, with denominators."""
    shared = sum(node.blocks * (node.count - 1) for node in profile.nodes)
    rate = shared / profile.blocks if profile.blocks else 0.0
    span = f"over {profile.end_s - profile.start_s:.0f} s, cold start"
    return {
        "requests": profile.requests,
        "tenants": len(profile.tenants),
        "partitions (model, adapter)": len(profile.partitions),
        "blocks of 64 characters": profile.blocks,
        "distinct blocks": profile.distinct_blocks,
        "seen before": f"{rate:.1%} of {profile.blocks} blocks, {span}",
        "tree nodes": len(profile.nodes),
        "pruned nodes": profile.pruned_nodes,
        "clusters": f"{len(profile.clusters)} of {profile.cluster_sample} sampled prompts",
        "rendering": profile.rendering.name,
    } | {f"skipped: {reason}": count for reason, count in sorted(profile.skipped.items())}
