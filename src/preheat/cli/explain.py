"""``preheat explain``: where one request's prefix breaks, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from preheat.cli.one_request import find_request
from preheat.cli.options import Number, log_format_option, output_options, template_option
from preheat.errors import BadInput
from preheat.records.units import show_moment, show_seconds

if TYPE_CHECKING:
    from preheat.records.explanation import Divergence, Explanation, Segment
    from preheat.records.profile import Profile

_TENANTS = 2


@click.command()
@click.argument("which", metavar="LOG#REQUEST")
@click.option("--profile", "profile_path", required=True, type=click.Path(), metavar="FILE", help="Of preheat mine.")
@click.option("--ms-per-token", type=Number(), help="Prefill time of one token, to say what is missed in time.")
@log_format_option
@template_option
@output_options
def explain(which: str, profile_path: str, **flags: Any) -> int:
    """Where this request's prefix breaks, and what it costs: LOG#ID, or LOG#LINE for the request of that line.

    The request is rendered as the profile was, and walked through its tree. Counted as found is what another request
    had asked for before it came, as in a cache without bounds. What is missed behind a time, an id, a name or another
    order, and was seen with another one, is avoidable; the rest is new, and compulsory.
    """
    from preheat.cli.show import print_json
    from preheat.files.versioned import load
    from preheat.mine.explain import explain as run
    from preheat.prompts.render import renderer_for
    from preheat.records.profile import Profile

    profile = load(profile_path, Profile)
    _check_rendering(profile, flags["model"], profile_path)
    request = find_request(which, flags["format"])
    prompt = None
    if request.messages or request.prompt is not None:
        prompt = renderer_for(profile.rendering).render(request)
    elif request.blocks is None:
        raise BadInput(f"{request.source} has neither a prompt nor ids of blocks", "choose another request")
    explanation = run(profile, request, prompt, flags["ms_per_token"])
    print_json(explanation) if flags["json"] else print_explanation(explanation)
    return 0


def _check_rendering(profile: Profile, template: str | None, path: str) -> None:
    """``--model`` may be repeated here, but not be another one. Raises :class:`BadInput`."""
    from preheat.cli.wiring import rendering_from

    given = rendering_from(template)
    if given is not None and given.template != profile.rendering.template:
        raise BadInput(
            f"{path} was rendered with {profile.rendering.name}, not with {given.name}: their prefixes do not compare",
            "leave --model out, or mine the log with it",
        )


def print_explanation(told: Explanation) -> None:
    """For people: the path through the tree, where it ends, and the sums."""
    from preheat.cli.show import print_facts
    from preheat.prompts.redaction import excerpt

    when = "without a time" if told.time_s is None else f"at {show_moment(told.time_s)}"
    tenant = "" if told.tenant is None else f", tenant {excerpt(told.tenant, 24)}"
    click.echo(f"request {excerpt(told.id, 60)} ({excerpt(told.source, 120)}) {when}{tenant}")
    if told.segments:
        click.echo(f"{'blocks':>13} {'in all':>9}  {'first, last seen':<28} {'tenants':<28} ends with")
    for segment in told.segments:
        _print_segment(segment)
    if told.divergence is not None:
        _print_divergence(told.divergence)
    print_facts("prefix", _sums(told))
    for note in told.notes:
        click.echo(f"  note: {note}")


def _print_segment(segment: Segment) -> None:
    from preheat.prompts.redaction import excerpt

    span = f"{segment.from_block}-{segment.to_block}"
    seen = "none earlier"
    if segment.same_moment:
        seen = "at the same moment" if segment.first_s == segment.last_s else "perhaps at the same moment"
    if segment.seen:
        times = [each for each in (segment.first_s, segment.last_s) if each is not None]
        seen = ", ".join(show_moment(each) for each in times) or "at no known time"
    named = [f"{excerpt(name, 10)} ({count})" for name, count in list(segment.tenants.items())[:_TENANTS]]
    more = f" +{len(segment.tenants) - _TENANTS}" if len(segment.tenants) > _TENANTS else ""
    end = segment.ends_with[-44:] or "(no text kept)"
    click.echo(f"{span:>13} {segment.requests:>9}  {seen:<28} {', '.join(named) + more or '-':<28} {end}")


def _print_divergence(told: Divergence) -> None:
    where = f"block {told.at_block}" + ("" if told.at_chars is None else f", character {told.at_chars}")
    click.echo(f"it leaves what had been seen at {where}" + (f": another {told.cause}" if told.cause else ""))
    if told.at_chars is None:
        return
    click.echo(f"  after    {told.before or '(the beginning)'}")
    click.echo(f"  here     {told.here}")
    if told.nearest:
        click.echo(f"  nearest  {told.nearest}")
        last = "" if told.last_s is None else f", the last at {show_moment(told.last_s)}"
        click.echo(f"           {told.requests} requests go on so{last}")
    else:
        click.echo("  nothing that had been seen goes on from there, as far as text was kept")
    if told.after:
        click.echo(f"  then both have: {told.after}")


def _sums(told: Explanation) -> dict[str, object]:
    missed = told.blocks - told.found_blocks

    def priced(blocks: int, cost_ms: float | None) -> str:
        share = f"{blocks / told.blocks:.1%} of {told.blocks}" if told.blocks else "of none"
        time = "" if cost_ms is None else f", {_show_time(cost_ms)} of prefill"
        return f"{blocks} blocks ({share}), {blocks * told.tokens_per_block:.0f} tokens{time}"

    return {
        "found": f"{priced(told.found_blocks, None)}, in a cache without bounds",
        "missed": priced(missed, told.missed_ms),
        "avoidable": priced(told.avoidable_blocks, told.avoidable_ms),
        "compulsory": priced(told.compulsory_blocks, None),
        "a block": f"{told.block_units} {told.unit}; {told.tokens_per_block:.3g} tokens ({told.tokens_from})",
        "rendering": told.rendering,
    }


def _show_time(cost_ms: float) -> str:
    """Below a second in milliseconds."""
    if round(cost_ms) >= 1000:
        return show_seconds(cost_ms / 1000)
    return f"{cost_ms:.0f} ms" if cost_ms >= 10 or not cost_ms else f"{cost_ms:.1f} ms"
