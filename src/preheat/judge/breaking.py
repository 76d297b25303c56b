"""Where prefixes break, fit to be shown: redacted as the whole that prompts are, and only then cut and shortened."""

from __future__ import annotations

from preheat.judge.shown import excerpt as short
from preheat.prompts.parting import apart
from preheat.prompts.redaction import excerpt, tail_excerpt
from preheat.records.evidence import BreakLine
from preheat.records.profile import Break, Profile

MOST_BREAKS = 10
TENANTS = 3
_BEFORE_CHARS = 60
_VARIANT_CHARS = 60
_TENANT_CHARS = 24


def break_lines(profile: Profile, most: int = MOST_BREAKS) -> list[BreakLine]:
    """The costliest first."""
    return [_line(each, profile) for each in profile.breaks[:most]]


def quoted(each: Break, around: int, width: int) -> tuple[str, list[str], str]:
    """The texts of a break: what is before, the variants, what is after."""
    begun = each.at_chars > len(each.before)
    before, variants, after = apart(each.before, [(text, each.after) for text in each.examples], begun=begun)
    return tail_excerpt(before, around), [excerpt(text, width) for text in variants], excerpt(after, around)


def lost_share(each: Break, profile: Profile) -> float:
    """Of the profile's distinct blocks, which are those that a cache without bounds computes."""
    return each.lost_blocks / profile.distinct_blocks if profile.distinct_blocks else 0.0


def _line(each: Break, profile: Profile) -> BreakLine:
    before, variants, after = quoted(each, _BEFORE_CHARS, _VARIANT_CHARS) if each.examples else ("", [], "")
    return BreakLine(
        cause=each.cause.value,
        later=tuple(cause.value for cause in each.later),
        at_chars=each.at_chars,
        variants=each.variants,
        requests=each.requests,
        lost_blocks=each.lost_blocks,
        lost_share=lost_share(each, profile),
        tenants=[(short(name, _TENANT_CHARS), count) for name, count in list(each.tenants.items())[:TENANTS]],
        tenant_count=len(each.tenants),
        before=before,
        examples=tuple(variants),
        after=after,
    )
