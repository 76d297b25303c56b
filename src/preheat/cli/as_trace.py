"""``preheat read --as``: a log as an anonymous trace."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from preheat.errors import BadInput

if TYPE_CHECKING:
    from preheat.read.as_trace import TraceReport

_LEAST_SALT = 16


def write_trace(paths: tuple[str, ...], flags: dict[str, Any]) -> int:
    """The trace to ``--output`` (``-``: standard output), and what it holds to people."""
    import msgspec

    from preheat.cli.progress import Reporter
    from preheat.cli.show import print_facts, print_json
    from preheat.cli.wiring import rendering_from
    from preheat.files.lines import write_lines
    from preheat.prompts.render import renderer_for
    from preheat.read.as_trace import trace_lines
    from preheat.read.reader import read_requests
    from preheat.records.rendering import Rendering
    from preheat.records.request import ReadReport

    if not flags["output"]:
        raise click.UsageError("'--as' needs '-o FILE' ('-' prints)")
    if flags["rendered"]:
        raise click.UsageError("'--as' writes no text, '--rendered' does: give one of them")
    salt = _salt(flags)
    report = ReadReport()
    renderer = renderer_for(rendering_from(flags["model"]) or Rendering())
    encode = msgspec.json.Encoder().encode
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        requests = reporter.watched("read", read_requests(list(paths), format=flags["format"], report=report))
        trace, records = trace_lines(requests, renderer, flags["form"], block_tokens=flags["block_size"], salt=salt)
        if flags["output"] == "-":
            for record in records:
                click.echo(encode(record))
            return 0
        write_lines(flags["output"], map(encode, records))
    trace.left_out = {**report.skipped, **trace.left_out}
    if flags["json"]:
        print_json(dataclasses.asdict(trace))
    else:
        print_facts(f"trace: {flags['output']} ({trace.form})", _facts(trace, salt is not None))
    return 0


def _salt(flags: dict[str, Any]) -> bytes | None:
    """Raises :class:`BadInput` for a salt that is not there, or so short that it can be guessed."""
    file, name = flags["salt_file"], flags["salt_env"]
    if file is None and name is None:
        return None
    if file is not None and name is not None:
        raise click.UsageError("give '--salt-file' or '--salt-env', not both")
    if file is not None:
        try:
            salt = Path(file).read_bytes().strip()
        except OSError as error:
            raise BadInput(f"the salt file {file} cannot be read: {error.strerror}", "check --salt-file") from error
    else:
        salt = os.environ.get(name, "").encode("utf-8", "surrogateescape").strip()
        if not salt:
            raise BadInput(f"the environment variable {name} is not set", "check --salt-env")
    if len(salt) < _LEAST_SALT:
        remedy = "use at least 16 random bytes, as from: openssl rand -hex 16"
        raise BadInput(f"the salt has {len(salt)} bytes, so that it can be guessed", remedy)
    return salt


def _facts(trace: TraceReport, salted: bool) -> dict[str, object]:
    block = f"{trace.block_tokens} tokens"
    if trace.block_chars is not None:
        block += f", taken to be {trace.block_chars} characters of rendered prompt"
    facts: dict[str, object] = {
        "requests": trace.requests,
        "blocks": f"{trace.blocks}, {trace.distinct_blocks} of them distinct",
        "a block": block,
        "hit rate": f"{trace.hit_rate:.2%} of {trace.blocks} blocks (last ones in part), cold start, without bounds",
        "ids": "hashes keyed by the salt" if salted else "numbered as they first appear",
    }
    for what, count in (
        ("lengths estimated from characters", trace.estimated_lengths),
        ("lengths changed to fit their blocks", trace.fitted_lengths),
        ("output lengths not known, written as 0", trace.without_output_length),
        ("requests without a time", trace.without_time),
    ):
        if count:
            facts[what] = f"{count} of {trace.requests}"
    if trace.blocks < 2 * trace.requests:
        facts["note"] = "most prompts are shorter than two blocks; a smaller --block-size shows more of what they share"
    return facts | {f"left out: {reason}": count for reason, count in sorted(trace.left_out.items())}
