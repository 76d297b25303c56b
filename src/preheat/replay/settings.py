"""Settings of replay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReplaySettings:
    """How recorded traffic is sent again."""

    window_s: float = 300.0
    """Length of the replayed part of the log, seconds of the log's clock."""
    speed: float | None = 1.0
    """Recorded seconds per replayed second; ``None``: as fast as the engine bears, but not faster than recorded."""
    hurry: bool = False
    """With ``speed`` None: also faster than recorded, where the engine bears it."""
    busy_target: float = 0.5
    """Share of time that an engine with an empty cache should be busy, where the speed is chosen for it."""
    max_time_s: float | None = None
    """Longest replay, seconds; what of the window does not fit is left out, and said."""
    output_tokens: int = 16
    """Tokens generated per request where the log does not say, and at most."""
    in_flight: int = 256
    """Requests outstanding at most; reached only when the engine cannot keep up, and said."""
    timeout_s: float = 600.0
    """Seconds after which one request counts as failed."""
