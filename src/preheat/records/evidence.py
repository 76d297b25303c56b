"""What warming bought, in numbers that anyone can re-run. Absent is not zero."""

from __future__ import annotations

import msgspec

SCHEMA = "preheat.evidence"
VERSION = "1.0"


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One number. ``value`` is ``None`` (ABSTAIN) where it cannot be told, and ``why`` says so.

    ``denominator`` and ``window`` are stated wherever the value is a rate; ``formula`` names its source.
    """

    name: str
    unit: str
    value: float | None
    denominator: str = ""
    window: str = ""
    formula: str = ""
    why: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One metric on the cold and on the warmed replica. ``ratio`` = cold / warm."""

    name: str
    unit: str
    cold: float | None
    warm: float | None
    ratio: float | None
    denominator: str = ""
    window: str = ""
    formula: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The report's content: everything that the terminal table and the HTML draw comes from here.

    ``series`` holds what charts draw: name → list of ``[x, y]`` pairs.
    """

    schema: str = SCHEMA
    version: str = VERSION
    created: str
    title: str
    comparisons: list[Comparison] = []
    cold: list[Metric] = []
    warm: list[Metric] = []
    warmup: list[Metric] = []
    outcomes: dict[str, int] = {}
    series: dict[str, list[list[float]]] = {}
    facts: dict[str, str] = {}
    notes: list[str] = []
    promises: dict[str, bool] = {}
