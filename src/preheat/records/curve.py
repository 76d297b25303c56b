"""How much a prefix cache of each size would have found in a log, by eviction policy."""

from __future__ import annotations

import msgspec

CURVE_SCHEMA = "preheat.curve"
CURVE_VERSION = "1.0"


class PolicyCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One policy at each of :attr:`CapacityCurve.capacities`, in that order.

    ``hit_rate`` is found blocks / :attr:`CapacityCurve.blocks`; ``length_hit_rate`` what they stand for, in tokens or
    characters, / :attr:`CapacityCurve.length`, empty where prompt lengths are not known. ``avoidable_blocks`` were
    seen before, but had to leave: a larger cache would have found them.
    """

    policy: str
    hit_blocks: list[int]
    hit_rate: list[float]
    avoidable_blocks: list[int]
    length_hit_rate: list[float] = []


class CapacityCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Hit rate against cache size, from a cold start at ``start_s``.

    What is counted is the requests from ``counted_from_s`` to ``end_s`` (the log's own clock; ``None`` where it has
    none): ``requests`` of them, ``blocks`` whole blocks they ask for (repeats included), ``length`` their prompts in
    ``unit``. ``compulsory_blocks`` were never seen before, so that no cache finds them; ``ceiling_blocks`` are the
    others. ``distinct_blocks`` is the size of a cache that holds all of the log. A block stands for ``block_units`` of
    ``unit``; ``capacities`` are in blocks, ``capacity_bytes`` the same in bytes where KV bytes per token are given.
    """

    schema: str = CURVE_SCHEMA
    version: str = CURVE_VERSION
    unit: str
    block_units: int
    start_s: float | None
    end_s: float | None
    counted_from_s: float | None
    requests: int
    blocks: int
    length: int | None
    distinct_blocks: int
    compulsory_blocks: int
    ceiling_blocks: int
    ceiling_hit_rate: float
    ceiling_length_hit_rate: float | None = None
    capacities: list[int]
    capacity_bytes: list[int] = []
    tokens_per_block: float | None = None
    policies: list[PolicyCurve]
    left_out: dict[str, int] = {}
