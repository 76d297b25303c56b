"""Settings of warming."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WarmSettings:
    """How an engine is warmed and verified."""

    max_time_s: float | None = None
    """Seconds for warming; items whose turn has not come by then are DEFERRED. Verification comes on top."""
    concurrency: int | None = None
    """Prompts in flight; ``None``: what the engine says it works on at once, 4 at most."""
    verify_target: float = 0.95
    """Share of attempted items that must be proven resident."""
    attempts: int = 4
    """Tries per item on faults that may pass (overload, time-outs, server errors)."""
    retry_base_s: float = 0.5
    """First back-off; doubles per try, with full jitter."""
    retry_cap_s: float = 15.0
    """Longest back-off."""
    request_timeout_s: float = 120.0
    """Seconds after which a warm-up request counts as hung."""
    give_up_after: int = 5
    """Items failing in a row, retries included, after which the engine counts as gone."""
    resume: bool = False
    """Take up the journal of an interrupted run of the same plan."""
