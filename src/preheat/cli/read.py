"""``preheat read``: what a log holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import (
    asked_engine_option,
    engine_options,
    log_format_option,
    output_options,
    template_option,
)
from preheat.cli.outputs import refuse_overwriting
from preheat.cli.progress import Reporter
from preheat.cli.streams import remark

if TYPE_CHECKING:
    from preheat.records.request import ReadReport, Request


STDOUT = "-"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--rendered", is_flag=True, help="Render each prompt as an engine would see it.")
@click.option(
    "--block-size",
    type=click.IntRange(1),
    metavar="N",
    help="With --rendered: vLLM's names of blocks of N tokens; with --as: its blocks.",
)
@click.option(
    "--hash-algorithm",
    type=click.Choice(["sha256_cbor", "xxhash_cbor"]),
    default="sha256_cbor",
    show_default=True,
    help="The engine's --prefix-caching-hash-algo.",
)
@click.option("--hash-seed", metavar="SEED", help="The engine's PYTHONHASHSEED; leave it out where it is not set.")
@click.option("--lora", multiple=True, metavar="NAME=PATH", help="Path of an adapter, as the engine has it.")
@click.option("--as", "form", type=click.Choice(["mooncake", "bailian"]), help="Write an anonymous trace of block ids.")
@click.option("--salt-file", type=click.Path(), help="With --as: ids are hashes keyed by what this file holds.")
@click.option("--salt-env", metavar="NAME", help="The same, from an environment variable.")
@click.option("-o", "--output", metavar="FILE", help="Write the requests as JSON Lines (.zst compresses, - prints).")
@log_format_option
@template_option
@asked_engine_option
@engine_options
@output_options
def read(paths: tuple[str, ...], **flags: Any) -> int:
    """Normalise and count a log; say what was skipped, where, and why.

    With --rendered --json, prints JSON Lines of id, time (seconds, the log's own clock) and rendered (raw text); with
    a tokenizer (--model, --engine) also tokens, and block_hashes with --block-size. With --as, writes a trace that
    holds no text, no names and no ids of the log: blocks are numbered as they first appear. Otherwise prints a summary.
    """
    refuse_overwriting({"-o": flags["output"]}, (*paths, *filter(None, [flags["salt_file"]])))
    if flags["form"]:
        from preheat.cli.as_trace import write_trace

        return write_trace(paths, flags)
    if flags["salt_file"] or flags["salt_env"]:
        raise click.UsageError("'--salt-file' and '--salt-env' need '--as'")
    if flags["block_size"] and not (flags["rendered"] and (flags["model"] or flags["engine"])):
        raise click.UsageError("'--block-size' needs '--rendered', and a tokenizer: '--model' or '--engine'")
    if flags["rendered"] and not (flags["json"] or flags["output"]):
        raise click.UsageError("'--rendered' prints with '--json', or writes with '-o FILE': give one of them")
    from preheat.read.reader import read_requests
    from preheat.records.request import ReadReport

    report = ReadReport()
    with Reporter(flags["progress"], flags["quiet"]) as reporter:

        def counted() -> Iterator[Request]:
            for number, request in enumerate(read_requests(list(paths), format=flags["format"], report=report)):
                if number % 2_000 == 0:
                    reporter.progress("read", number, 0)
                yield request

        if _piped(flags):
            for line in _lines(counted(), flags):
                click.echo(line)
        elif flags["output"]:
            from preheat.files.lines import write_lines

            write_lines(flags["output"], _lines(counted(), flags))
        else:
            for _ in _lines(counted(), flags) if flags["rendered"] else counted():
                pass
    _summary(report, flags)
    return 0


def _lines(requests: Iterator[Request], flags: dict[str, Any]) -> Iterator[bytes]:
    """One JSON document per request, without the line end."""
    import msgspec

    encode = msgspec.json.Encoder().encode
    if not flags["rendered"]:
        yield from map(encode, requests)
        return
    from preheat.cli.rendered import rendered_lines

    yield from map(encode, rendered_lines(requests, flags))


def _piped(flags: dict[str, Any]) -> bool:
    """Whether standard output takes the requests themselves, so that nothing else may go there."""
    return flags["output"] == STDOUT or (flags["rendered"] and flags["json"] and not flags["output"])


def _summary(report: ReadReport, flags: dict[str, Any]) -> None:
    from preheat.cli.show import print_facts, print_json, shown
    from preheat.records.units import show_moment, show_seconds

    if flags["json"] and not _piped(flags):
        print_json(report)
        return
    times = [each for each in (report.first_s, report.last_s) if each is not None]
    facts: dict[str, object] = {
        "files": report.files,
        "formats": ", ".join(f"{name} ({count})" for name, count in report.formats.items()),
        "lines": report.lines,
        "requests": report.requests,
        "first, last": "the log has no times"
        if not times
        else ", ".join(show_moment(each) for each in times) + f" ({show_seconds(times[-1] - times[0])})",
    }
    if report.without_text:
        facts["without text"] = f"{report.without_text} (a trace: block ids, or arrivals and lengths)"
    if report.truncated:
        facts["cut by the log"] = report.truncated
    facts |= {f"noted: {what}": count for what, count in sorted(report.noted.items())}
    facts |= {f"skipped: {reason}": count for reason, count in sorted(report.skipped.items())}
    if _piped(flags):
        if report.skipped and not flags["quiet"]:
            remark(f"skipped {sum(report.skipped.values())} lines: {shown(report.skipped)}")
        return
    print_facts("log", facts)
    for where, reason in report.quarantine[:10]:
        click.echo(f"    {where}: {shown(reason)}")
    if len(report.quarantine) > 10:
        click.echo(f"    and {sum(report.skipped.values()) - 10} more; --json lists up to 100")
