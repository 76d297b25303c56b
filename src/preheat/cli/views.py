"""What ``preheat mine`` writes beside the profile, for people and other programs to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from preheat.errors import BadInput

if TYPE_CHECKING:
    from preheat.mine.token_graph import Split
    from preheat.records.profile import Profile


def check_views(flags: dict[str, Any]) -> None:
    """Before a log is read for nothing. Raises :class:`click.UsageError`."""
    if flags["gexf"] and flags["no_text"]:
        raise click.UsageError("'--gexf' needs the prompts' text: leave out --no-text")


def write_views(profile: Profile, flags: dict[str, Any], paths: tuple[str, ...], pieces: Split | None = None) -> None:
    """``--gexf`` (of a tokenizer's ``pieces``, where given) and ``--report``, whole or not at all, mode 0600."""
    from preheat.files.versioned import write_text

    if flags["report"]:
        from datetime import UTC, datetime

        from preheat.judge.insight import insight
        from preheat.judge.report_html import render_log
        from preheat.judge.shown import address

        title = "What the log holds: " + " ".join(address(path) for path in paths)
        write_text(
            flags["report"], render_log(insight(profile), title, datetime.now(UTC).isoformat(timespec="seconds"))
        )
    if flags["gexf"]:
        if not profile.has_text:
            raise BadInput("the profile holds no text, so that there is no token flow to write", "leave out --gexf")
        from preheat.mine.gexf import to_gexf
        from preheat.mine.token_graph import graph

        write_text(flags["gexf"], to_gexf(graph(profile, split=pieces), profile.topology))
