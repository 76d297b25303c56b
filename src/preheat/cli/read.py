"""``preheat read``: what a log holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import log_format_option, output_options, template_option
from preheat.cli.progress import Reporter
from preheat.cli.streams import remark

if TYPE_CHECKING:
    from preheat.records.request import ReadReport, Request


STDOUT = "-"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--rendered", is_flag=True, help="Render each prompt as an engine would see it.")
@click.option("-o", "--output", metavar="FILE", help="Write the requests as JSON Lines (.zst compresses, - prints).")
@log_format_option
@template_option
@output_options
def read(paths: tuple[str, ...], **flags: Any) -> int:
    """Normalise and count a log; say what was skipped, where, and why.

    With --rendered --json, prints JSON Lines of id, time (seconds, the log's own clock) and rendered (raw text).
    Otherwise prints a summary.
    """
    from preheat.read.reader import read_requests
    from preheat.records.request import ReadReport

    report = ReadReport()
    with Reporter(flags["progress"], flags["quiet"]) as reporter:

        def counted() -> Iterator[Request]:
            for number, request in enumerate(read_requests(list(paths), format=flags["format"], report=report)):
                if number % 2_000 == 0:
                    reporter.progress("read", number, 0)
                yield request

        lines = _lines(counted(), flags)
        if _piped(flags):
            for line in lines:
                click.echo(line)
        elif flags["output"]:
            from preheat.files.lines import write_lines

            write_lines(flags["output"], lines)
        else:
            for _ in lines:
                pass
    _summary(report, flags)
    return 0


def _lines(requests: Iterator[Request], flags: dict[str, Any]) -> Iterator[bytes]:
    """One JSON document per request, without the line end."""
    import msgspec

    from preheat.cli.wiring import rendering_from
    from preheat.prompts.render import PromptNotRenderable, renderer_for
    from preheat.records.rendering import Rendering

    encode = msgspec.json.Encoder().encode
    if not flags["rendered"]:
        yield from map(encode, requests)
        return
    renderer = renderer_for(rendering_from(flags["model"]) or Rendering())
    for request in requests:
        line: dict[str, Any] = {"id": request.id, "time": request.time_s}
        try:
            line["rendered"] = renderer.render(request)
        except PromptNotRenderable as refusal:
            line["rendered"], line["why"] = None, refusal.message
        line["tenant"], line["model"], line["adapter"] = request.tenant, request.model, request.adapter
        yield encode(line)


def _piped(flags: dict[str, Any]) -> bool:
    """Whether standard output takes the requests themselves, so that nothing else may go there."""
    return flags["output"] == STDOUT or (flags["rendered"] and flags["json"] and not flags["output"])


def _summary(report: ReadReport, flags: dict[str, Any]) -> None:
    from preheat.cli.show import print_facts, print_json

    if flags["json"] and not _piped(flags):
        print_json(report)
        return
    facts: dict[str, object] = {
        "files": report.files,
        "formats": ", ".join(f"{name} ({count})" for name, count in report.formats.items()),
        "lines": report.lines,
        "requests": report.requests,
        "first, last": "the log has no times" if report.first_s is None else f"{report.first_s:g}, {report.last_s:g} s",
    }
    facts |= {f"skipped: {reason}": count for reason, count in sorted(report.skipped.items())}
    if _piped(flags):
        if report.skipped and not flags["quiet"]:
            remark(f"skipped {sum(report.skipped.values())} lines: {report.skipped}")
        return
    print_facts("log", facts)
    for where, reason in report.quarantine[:10]:
        click.echo(f"    {where}: {reason}")
    if len(report.quarantine) > 10:
        click.echo(f"    and {sum(report.skipped.values()) - 10} more; --json lists up to 100")
