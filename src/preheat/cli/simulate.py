"""``preheat simulate``: log or trace → hit rate against cache size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import Number, ResultFile, log_format_option, output_options, template_option
from preheat.cli.outputs import refuse_overwriting
from preheat.errors import BadInput
from preheat.records.units import parse_bytes, parse_time, show_bytes, show_moment, show_seconds

if TYPE_CHECKING:
    from preheat.read.accesses import Asked
    from preheat.records.curve import CapacityCurve
    from preheat.records.request import ReadReport

_BLOCKS = re.compile(r"([0-9]{1,15})\s*(?:blocks?)?", re.IGNORECASE)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%")


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--policy",
    default="lru,optimal",
    show_default=True,
    metavar="P,...",
    help="lru, fifo, lfu, lru-2, sieve, optimal (Belady, with bypass), or all.",
)
@click.option(
    "--capacity",
    metavar="C,...",
    help="Cache sizes: 1000blocks, 25% (of the log's distinct blocks), or 4GiB with --bytes-per-token. "
    "Default: powers of two up to all distinct blocks.",
)
@click.option("--bytes-per-token", type=Number(), help="KV bytes of one token, to state sizes in bytes.")
@click.option("--from", "since", metavar="TIME", help="Count only from here on: ISO 8601, epoch seconds, or 24h.")
@click.option(
    "--block-chars",
    type=click.IntRange(1, 65_536),
    default=64,
    show_default=True,
    help="Characters of rendered prompt per block; a trace of ids has its own blocks.",
)
@click.option("-o", "--output", type=ResultFile(), metavar="FILE", help="Write the curve as JSON.")
@log_format_option
@template_option
@output_options
def simulate(paths: tuple[str, ...], **flags: Any) -> int:
    """How much a prefix cache of each size would find of this log, by policy; no engine is asked.

    The cache starts cold and holds whole blocks, each model and adapter apart. A block counts as found if it and all
    before it are there; a prefix's end is given up before its beginning. Above every policy stand the optimum for a
    size (Belady) and the ceiling, a cache without bounds: what that misses was never seen before.
    """
    from preheat.blocks.curve import capacity_curve, ladder
    from preheat.cli.show import print_json
    from preheat.files.versioned import save

    refuse_overwriting({"-o": flags["output"]}, paths)
    policies = _policies(flags["policy"])
    asked, report = _read(paths, flags)
    distinct = asked.accesses.distinct
    block_bytes = None if flags["bytes_per_token"] is None else flags["bytes_per_token"] * asked.tokens_per_block
    wanted = flags["capacity"]
    sizes = _capacities(wanted, distinct, block_bytes) if wanted else ladder(distinct)
    curve = capacity_curve(asked.accesses, policies, sizes, _since(flags["since"], asked))
    curve = _with_bytes(curve, asked, block_bytes)
    if flags["output"]:
        save(flags["output"], curve)
    print_json(curve) if flags["json"] else print_curve(curve, asked, report)
    return 0


def _policies(given: str) -> list[str]:
    from preheat.blocks.policies.policy import POLICIES

    if given.strip() == "all":
        return list(POLICIES)
    names = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    for name in names:
        if name not in POLICIES:
            raise BadInput(f"there is no policy {name[:40]!r}", f"known are {', '.join(POLICIES)}, or all")
    if not names:
        raise BadInput("no policy was named", f"known are {', '.join(POLICIES)}, or all")
    return names


def _read(paths: tuple[str, ...], flags: dict[str, Any]) -> tuple[Asked, ReadReport]:
    from preheat.cli.progress import Reporter
    from preheat.cli.wiring import rendering_from
    from preheat.prompts.render import renderer_for
    from preheat.read.accesses import asked_blocks
    from preheat.read.reader import read_requests
    from preheat.records.rendering import Rendering
    from preheat.records.request import ReadReport

    report = ReadReport()
    renderer = renderer_for(rendering_from(flags["model"]) or Rendering())
    with Reporter(flags["progress"], flags["quiet"]) as reporter:
        requests = reporter.watched("read", read_requests(list(paths), format=flags["format"], report=report))
        asked = asked_blocks(requests, renderer, flags["block_chars"])
    asked.left_out = {**report.skipped, **asked.left_out}
    if not asked.accesses.blocks:
        raise BadInput("no prompt of the log has a whole block", "try a smaller --block-chars")
    return asked, report


def _capacities(given: str, distinct: int, block_bytes: float | None) -> list[int]:
    """``1000blocks``, ``25%``, ``4GiB`` → blocks. Raises :class:`BadInput`."""
    sizes = []
    for text in filter(None, (part.strip() for part in given.split(","))):
        if match := _BLOCKS.fullmatch(text):
            size = int(match[1])
        elif match := _PERCENT.fullmatch(text):
            size = int(distinct * float(match[1]) / 100)
        elif block_bytes is None:
            parse_bytes(text)
            raise BadInput(f"{text[:40]!r} needs --bytes-per-token", "give it, or sizes like 1000blocks or 25%")
        else:
            size = int(parse_bytes(text) / block_bytes)
        if size < 1:
            raise BadInput(f"a cache of {text[:40]!r} holds not one block", "give a larger one")
        sizes.append(size)
    if not sizes:
        raise BadInput("no capacity was named", "give sizes like 1000blocks, 25% or 4GiB")
    return sorted(set(sizes))


def _since(given: str | None, asked: Asked) -> float | None:
    if given is None:
        return None
    times_s = asked.accesses.times_s
    known = times_s[times_s == times_s]
    if not len(known):
        raise BadInput("the log has no times, so that nothing in it is after --from", "leave out --from")
    since_s = parse_time(given, float(known.min()))
    if since_s > known.max():
        raise BadInput(
            "nothing in the log is at or after --from", f"its last request is at {show_moment(float(known.max()))}"
        )
    return since_s


def _with_bytes(curve: CapacityCurve, asked: Asked, block_bytes: float | None) -> CapacityCurve:
    import msgspec

    found = [] if block_bytes is None else [int(size * block_bytes) for size in curve.capacities]
    return msgspec.structs.replace(
        curve, capacity_bytes=found, tokens_per_block=asked.tokens_per_block, left_out=asked.left_out
    )


def print_curve(curve: CapacityCurve, asked: Asked, report: ReadReport) -> None:
    """The curve for people: a row for each size, policies beside each other, what is divided by what below."""
    from preheat.cli.profile_facts import remarks
    from preheat.cli.show import print_facts

    in_bytes = bool(curve.capacity_bytes)
    names = "".join(f"{policy.policy:>9}" for policy in curve.policies)
    click.echo(
        f"{'blocks':>12}{'bytes' if in_bytes else '':>11}{'of distinct':>13}{names}{'ceiling':>9}{'avoidable':>11}"
    )
    for row, size in enumerate(curve.capacities):
        shown = show_bytes(curve.capacity_bytes[row]) if in_bytes else ""
        rates = "".join(f"{policy.hit_rate[row]:>9.1%}" for policy in curve.policies)
        share, lost = size / curve.distinct_blocks, curve.policies[0].avoidable_blocks[row] / curve.blocks
        click.echo(f"{size:>12}{shown:>11}{share:>13.1%}{rates}{curve.ceiling_hit_rate:>9.1%}{lost:>11.1%}")
    print_facts("hit rate", _facts(curve, asked) | remarks(report))


def _facts(curve: CapacityCurve, asked: Asked) -> dict[str, object]:
    window = "the whole log, cold start; it has no times"
    if curve.start_s is not None and curve.end_s is not None:
        since_s = curve.start_s if curve.counted_from_s is None else curve.counted_from_s
        window = (
            f"from {show_moment(since_s)} to {show_moment(curve.end_s)}, cold start at {show_moment(curve.start_s)}"
        )
        window += f" ({show_seconds(curve.end_s - since_s)})"
    by_length = "prompt lengths are not known"
    if curve.length is not None and curve.ceiling_length_hit_rate is not None:
        by_length = f"the ceiling is {curve.ceiling_length_hit_rate:.1%} of {curve.length} {curve.unit}"
    return {
        "denominator": f"{curve.blocks} whole blocks of {curve.block_units} {curve.unit}, of {curve.requests} requests",
        "window": window,
        "compulsory misses": f"{_of(curve.compulsory_blocks, curve.blocks)}: never seen before, no cache finds them",
        "avoidable": f"of {curve.policies[0].policy}: blocks seen before that had to leave, of all whole blocks",
        f"in {curve.unit}": by_length,
        "a block": f"{curve.tokens_per_block:g} tokens"
        + ("" if asked.accesses.in_tokens else f", at {asked.chars_per_token:.3g} characters a token")
        + ("" if asked.accesses.in_tokens or asked.counted_tokens else " (assumed)"),
    } | {f"left out: {reason}": count for reason, count in sorted(curve.left_out.items())}


def _of(part: int, whole: int) -> str:
    return f"{part} ({part / whole if whole else 0.0:.1%})"
