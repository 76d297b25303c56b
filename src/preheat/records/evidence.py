"""What warming bought, in numbers that anyone can re-run. Absent is not zero."""

from __future__ import annotations

import msgspec

from preheat.records.profile import Topology

SCHEMA = "preheat.evidence"
VERSION = "1.2"


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One number. ``value`` is ``None`` (ABSTAIN) where it cannot be told, and ``why`` says so.

    ``denominator`` and ``window`` are stated wherever the value is a rate; ``formula`` names its source.
    ``name`` is the metric's tag, ``title`` what people read; ``note`` says what to beware of in a value that stands.
    """

    name: str
    unit: str
    value: float | None
    denominator: str = ""
    window: str = ""
    formula: str = ""
    why: str = ""
    title: str = ""
    note: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One metric on the cold and on the warmed replica. ``ratio`` = cold / warm.

    ``pairs`` counts the requests that succeeded in both runs and are compared here, each with itself;
    ``ratio_low`` and ``ratio_high`` bound the ratio at 95 % where that was computed. ``why`` explains a ``None``.
    """

    name: str
    unit: str
    cold: float | None
    warm: float | None
    ratio: float | None
    denominator: str = ""
    window: str = ""
    formula: str = ""
    title: str = ""
    pairs: int = 0
    ratio_low: float | None = None
    ratio_high: float | None = None
    why: str = ""
    note: str = ""


class ClusterLine(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster of prompts as it may be shown: ``excerpt`` is redacted; ``share`` is of all clustered requests."""

    size: int
    share: float
    classes: tuple[str, ...] = ()
    excerpt: str = ""


class BreakLine(msgspec.Struct, frozen=True, kw_only=True):
    """A place where prefixes break (see :class:`preheat.records.profile.Break`) as it may be shown: texts are redacted.

    ``lost_share`` is of the profile's distinct blocks; ``tenants`` are the first of ``tenant_count``, with requests.
    """

    cause: str
    later: tuple[str, ...] = ()
    at_chars: int
    variants: int
    requests: int
    lost_blocks: int
    lost_share: float
    tenants: list[tuple[str, int]] = []
    tenant_count: int = 0
    before: str = ""
    examples: tuple[str, ...] = ()
    after: str = ""


class LogInsight(msgspec.Struct, frozen=True, kw_only=True):
    """What the log was found to hold, fit to be shown.

    ``hours`` are requests by hour of the day in the log's own clock (24 numbers, or none where it has no times),
    which is UTC where ``epoch`` says that it counts from 1970; ``start_s`` and ``end_s`` are in that clock, ``None``
    where the log has no times. ``clusters`` are the largest of ``cluster_count``, ``breaks`` the costliest of
    ``break_count``, ``None`` where no text was kept to look for them in. Of ``blocks``, ``seen_blocks`` had come before
    (a cache without bounds, cold at first); ``distinct_blocks`` is the denominator of what breaks cost. ``skipped``
    counts by reason what the log held and could not be read.
    """

    requests: int
    tenants: int = 0
    span_s: float = 0.0
    topology: Topology | None = None
    clusters: list[ClusterLine] = []
    cluster_count: int = 0
    cluster_sample: int = 0
    hours: list[int] = []
    epoch: bool = False
    start_s: float | None = None
    end_s: float | None = None
    blocks: int = 0
    seen_blocks: int = 0
    distinct_blocks: int = 0
    skipped: dict[str, int] = {}
    breaks: list[BreakLine] | None = None
    break_count: int = 0


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The report's content: everything that the terminal table and the HTML draw comes from here.

    ``series`` holds what charts draw: name → list of ``[x, y]`` pairs. ``headline`` says in a sentence or two what
    warming bought and whether the warm set is proven resident; ``skipped`` counts, by reason, what was left out on
    the way; ``commands`` are the lines that run it all again. ``promises`` maps each promise to whether it was kept.
    ``warnings`` are the reasons why the comparison says nothing about the warm-up: shown loudly, before any number.
    ``insight`` is what the log held, where there was a profile.
    """

    schema: str = SCHEMA
    version: str = VERSION
    created: str
    title: str
    headline: str = ""
    comparisons: list[Comparison] = []
    cold: list[Metric] = []
    warm: list[Metric] = []
    warmup: list[Metric] = []
    outcomes: dict[str, int] = {}
    series: dict[str, list[list[float]]] = {}
    facts: dict[str, str] = {}
    skipped: dict[str, int] = {}
    commands: list[str] = []
    notes: list[str] = []
    promises: dict[str, bool] = {}
    warnings: list[str] = []
    insight: LogInsight | None = None
