"""Where one request's prefix breaks, against what a profile has seen."""

from __future__ import annotations

import msgspec

from preheat.records.outcomes import BreakCause

EXPLANATION_SCHEMA = "preheat.explanation"
EXPLANATION_VERSION = "1.0"


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the prompt that lies in one edge of the profile's tree: blocks ``from_block`` to ``to_block``.

    ``requests`` of the profile pass all of it, those of ``tenants`` among them; it was asked for from ``first_s`` to
    ``last_s`` (``None``: at times that the log does not give). ``seen`` says that its first request came before this
    one; ``same_moment`` that others may have asked for it first at this one's own moment, within which times tell no
    order: they do not count as seen. ``ends_with`` is the redacted end of its text, empty where that was not kept.
    """

    from_block: int
    to_block: int
    requests: int
    tenants: dict[str, int]
    first_s: float | None
    last_s: float | None
    seen: bool
    same_moment: bool = False
    ends_with: str = ""


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """Where the request leaves all that was seen before it. Texts are redacted and shortened.

    ``nearest`` is how the continuation goes that is most like it, asked for by ``requests`` requests and last at
    ``last_s``; it is empty where nothing goes on from there, or no text of it was kept. ``cause`` is what differs, if
    that is something of a telling form before text that both have; ``None`` where the prompts simply go on differently.
    """

    at_block: int
    at_chars: int | None
    before: str
    here: str
    nearest: str = ""
    requests: int = 0
    last_s: float | None = None
    cause: BreakCause | None = None
    after: str = ""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What a cache without bounds would have held of one request when it came, and why not more.

    Of ``blocks`` whole blocks, ``found_blocks`` had been asked for before. Of the others ``avoidable_blocks`` are text
    that was seen behind the divergence, and ``compulsory_blocks`` are new. ``in_profile``: the profile's own time
    includes the request's. Tokens are blocks x ``tokens_per_block`` (``tokens_from`` says whence); the times are what
    computing them costs, where the price of a token is known.
    """

    schema: str = EXPLANATION_SCHEMA
    version: str = EXPLANATION_VERSION
    id: str
    source: str
    time_s: float | None
    tenant: str | None
    model: str | None
    adapter: str | None
    in_profile: bool
    rendering: str
    block_units: int
    unit: str
    blocks: int
    found_blocks: int
    avoidable_blocks: int
    compulsory_blocks: int
    tokens_per_block: float
    tokens_from: str
    missed_ms: float | None = None
    avoidable_ms: float | None = None
    segments: list[Segment] = []
    divergence: Divergence | None = None
    notes: list[str] = []
