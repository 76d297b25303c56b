"""What is worth warming, in which order, at what price."""

from __future__ import annotations

import msgspec

from preheat.records.rendering import Rendering
from preheat.records.target import CostModel, EngineInfo

SCHEMA = "preheat.plan"
VERSION = "1.0"


class PlanItem(msgspec.Struct, frozen=True, kw_only=True):
    """One prefix to warm. Items stand in the order in which to warm them, a leader always before its followers.

    ``leader`` is the earlier item that computes most of what this one shares (its parent prefix, or a sibling).
    ``tokens`` is the whole prefix, ``resident_tokens`` what of it the engine can keep (whole blocks) and is
    expected to report as cached, ``new_tokens`` what is left to compute once all earlier items are resident.
    ``cost_ms``, ``gain_ms`` and ``bytes`` are of the new tokens alone, so they add up over the plan: time to compute
    them now, prefill time expected to be saved in the window, memory. An engine that keeps whole prompt states
    holds shared parts once per state; its ``bytes`` say so. ``expected_uses`` counts requests in the window,
    ``use_probability`` is that of at least one.
    """

    id: str
    kind: str = "prefix"
    text: str | None = None
    leader: str | None = None
    blocks: int
    tokens: int
    resident_tokens: int
    new_tokens: int
    tokens_exact: bool = False
    expected_uses: float
    use_probability: float
    bytes: int
    cost_ms: float
    gain_ms: float
    tenant: str | None = None
    tenants: dict[str, int] = {}
    adapter: str | None = None
    model: str | None = None
    seen: int = 0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A warm-up plan. ``left_out`` counts, by reason, candidates that did not make it."""

    schema: str = SCHEMA
    version: str = VERSION
    strategy: str
    profile_hash: str
    rendering: Rendering = Rendering()
    block_chars: int = 64
    at_s: float
    window_s: float
    budget_bytes: int | None = None
    budget_ms: float | None = None
    cost: CostModel = CostModel()
    engine: EngineInfo | None = None
    items: list[PlanItem] = []
    left_out: dict[str, int] = {}
    notes: list[str] = []

    @property
    def distinct_tokens(self) -> int:
        """Token positions that the plan computes, no prefix twice."""
        return sum(item.new_tokens for item in self.items)

    @property
    def bytes(self) -> int:
        return sum(item.bytes for item in self.items)

    @property
    def cost_ms(self) -> float:
        return sum(item.cost_ms for item in self.items)

    @property
    def gain_ms(self) -> float:
        return sum(item.gain_ms for item in self.items)
