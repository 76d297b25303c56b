"""Where prefixes break, for people and as JSON: what is quoted is redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from preheat.records.profile import Break, Profile

_BEFORE_CHARS = 32
_VARIANT_CHARS = 40
_TENANTS = 3


def shown_breaks(profile: Profile, limit: int) -> list[dict[str, object]]:
    """The costliest ``limit`` breaks, for machines that show them to people."""
    from preheat.prompts.redaction import redact

    return [
        {
            "cause": each.cause.value,
            "also": [cause.value for cause in each.later],
            "lost_blocks": each.lost_blocks,
            "lost_share": round(_share(each, profile), 6),
            "requests": each.requests,
            "variants": each.variants,
            "at_chars": each.at_chars,
            "model": profile.partitions[each.partition].model,
            "adapter": profile.partitions[each.partition].adapter,
            "tenants": {redact(name): count for name, count in each.tenants.items()},
            **dict(zip(("before", "examples", "after"), _quoted(each, 120, 120), strict=True)),
        }
        for each in profile.breaks[:limit]
    ]


def _quoted(each: Break, around: int, width: int) -> tuple[str, list[str], str]:
    """The texts of a break: redacted as the whole that they are, and only then cut and shortened."""
    from preheat.prompts.parting import apart
    from preheat.prompts.redaction import excerpt, tail_excerpt

    begun = each.at_chars > len(each.before)
    before, variants, after = apart(each.before, [(text, each.after) for text in each.examples], begun=begun)
    return tail_excerpt(before, around), [excerpt(text, width) for text in variants], excerpt(after, around)


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
    from preheat.prompts.redaction import excerpt

    also = f" (then {', '.join(each.later)})" if each.later else ""
    click.echo(
        f"  {each.cause}{also} at character {each.at_chars}: {each.variants} variants in {each.requests} requests, "
        f"about {each.lost_blocks} blocks lost ({_share(each, profile):.1%})"
    )
    if each.examples:
        before, examples, after = _quoted(each, _BEFORE_CHARS, _VARIANT_CHARS)
        click.echo(f"    “{before}” [{' | '.join(text or '(nothing)' for text in examples)}] “{after}”")
    if each.tenants:
        named = [f"{excerpt(name, 24)} ({count})" for name, count in list(each.tenants.items())[:_TENANTS]]
        more = f" and {len(each.tenants) - _TENANTS} more" if len(each.tenants) > _TENANTS else ""
        click.echo(f"    tenants: {', '.join(named)}{more}")


def _share(each: Break, profile: Profile) -> float:
    return each.lost_blocks / profile.distinct_blocks if profile.distinct_blocks else 0.0
