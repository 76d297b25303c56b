"""Settings of planning."""

from __future__ import annotations

from dataclasses import dataclass

DAY_S = 86_400.0


@dataclass(frozen=True)
class PlanSettings:
    """What a plan may use and what it is for."""

    strategy: str = "preheat"
    """One of the strategies in ``plan/strategies``."""
    budget_bytes: int | None = None
    """Cache memory that the warm set may take; ``None``: no bound but the engine's capacity."""
    budget_ms: float | None = None
    """Time for warming, milliseconds of prefill; ``None``: no bound."""
    at_s: float | None = None
    """When the engine starts, in the log's clock; ``None``: at the end of what the profile has seen."""
    window_s: float = 300.0
    """The cold window in which savings count, seconds from the start."""
    min_use_probability: float = 0.45
    """A prefix is planned only if it is at least this likely to be asked for within a day (bounds redundancy)."""
    capacity_share: float = 0.8
    """Share of the engine's own cache capacity that the warm set may take, the rest is for running requests."""
    max_candidates: int = 50_000
    """Prefixes considered, the most promising first."""
    model: str | None = None
    """Plan for this model name of the log alone; ``None``: the engine's, or the only one there is."""
    model_aliases: tuple[tuple[str, str], ...] = ()
    """Pairs of the log's model name and the engine's, where they differ."""
