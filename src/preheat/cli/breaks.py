"""Where prefixes break, for people and as JSON: what is quoted is redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from preheat.records.profile import Break, Profile

_BEFORE_CHARS = 32
_VARIANT_CHARS = 40


def shown_breaks(profile: Profile, limit: int) -> list[dict[str, object]]:
    """The costliest ``limit`` breaks, for machines that show them to people."""
    from preheat.judge.breaking import lost_share, quoted
    from preheat.prompts.redaction import redact

    return [
        {
            "cause": each.cause.value,
            "also": [cause.value for cause in each.later],
            "lost_blocks": each.lost_blocks,
            "lost_share": round(lost_share(each, profile), 6),
            "requests": each.requests,
            "variants": each.variants,
            "at_chars": each.at_chars,
            "model": profile.partitions[each.partition].model,
            "adapter": profile.partitions[each.partition].adapter,
            "tenants": {redact(name): count for name, count in each.tenants.items()},
            **dict(zip(("before", "examples", "after"), quoted(each, 120, 120), strict=True)),
        }
        for each in profile.breaks[:limit]
    ]


def print_breaks(profile: Profile, limit: int) -> None:
    """A block of lines for each of the costliest breaks."""
    if not limit or not profile.has_text:
        return
    if not profile.breaks:
        click.echo("  no prefix breaks before text that prompts share, as far as text was kept")
        return
    blocks = profile.distinct_blocks
    click.echo(
        f"prefixes break before text that prompts share (lost: of {blocks} distinct blocks, cache without bounds)"
    )
    for each in profile.breaks[:limit]:
        _print_one(each, profile)
    if len(profile.breaks) > limit:
        click.echo(f"  and {len(profile.breaks) - limit} more; --breaks {len(profile.breaks)} shows them")


def _print_one(each: Break, profile: Profile) -> None:
    from preheat.judge.breaking import TENANTS, lost_share, quoted
    from preheat.prompts.redaction import excerpt

    also = f" (then {', '.join(each.later)})" if each.later else ""
    click.echo(
        f"  {each.cause}{also} at character {each.at_chars}: {each.variants} variants in {each.requests} requests, "
        f"about {each.lost_blocks} blocks lost ({lost_share(each, profile):.1%})"
    )
    if each.examples:
        before, examples, after = quoted(each, _BEFORE_CHARS, _VARIANT_CHARS)
        click.echo(f"    “{before}” [{' | '.join(text or '(nothing)' for text in examples)}] “{after}”")
    if each.tenants:
        named = [f"{excerpt(name, 24)} ({count})" for name, count in list(each.tenants.items())[:TENANTS]]
        more = f" and {len(each.tenants) - TENANTS} more" if len(each.tenants) > TENANTS else ""
        click.echo(f"    tenants: {', '.join(named)}{more}")
