"""``preheat merge``: profiles → profile."""

from __future__ import annotations

from typing import Any

import click

from preheat.cli.options import ResultFile, output_options
from preheat.cli.outputs import refuse_overwriting
from preheat.cli.profile_facts import measures, summary


@click.command()
@click.argument("profiles", nargs=-1, required=True, metavar="PROFILE...")
@click.option(
    "--breaks", type=click.IntRange(0), default=5, show_default=True, help="Places where prefixes break to show."
)
@click.option("-o", "--output", type=ResultFile(), default="profile.json.zst", show_default=True, metavar="FILE")
@output_options
def merge(profiles: tuple[str, ...], **flags: Any) -> int:
    """Profiles → one profile: what mining all their logs at once would have given.

    Exactly so while no memory bound bites; past one, counts stay within the error that the result states. Clusters and
    all else that follows from the prompts is derived anew, from the text that the profiles kept.
    """
    from preheat.cli.breaks import print_breaks, shown_breaks
    from preheat.cli.show import print_facts, print_json
    from preheat.files.versioned import load, save
    from preheat.mine.merge import merge as run
    from preheat.mine.settings import MineSettings
    from preheat.records.profile import Profile

    refuse_overwriting({"-o": flags["output"]}, profiles, "-o")
    loaded = [load(path, Profile) for path in profiles]
    merged = run(loaded, MineSettings(keep_text=any(profile.has_text for profile in loaded)))
    save(flags["output"], merged)
    if flags["json"]:
        print_json(measures(merged) | {"breaks": shown_breaks(merged, flags["breaks"])})
    else:
        print_facts(f"profile: {flags['output']}", summary(merged))
        print_breaks(merged, flags["breaks"])
    return 0
