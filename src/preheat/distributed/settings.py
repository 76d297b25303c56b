"""Settings of mining on a cluster."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DistributedSettings:
    """How a log is spread over a cluster."""

    piece_bytes: int = 16 << 20
    """Bytes of records that one task mines; a longer record goes alone."""
    in_flight: int = 32
    """Tasks given out at once, which bounds what is held of the log; at most two for each processor."""
    fan_in: int = 8
    """Profiles that one task merges."""
    attempts: int = 4
    """How often a task is tried whose worker or node is lost."""
    connect_s: float = 10.0
    """How long a cluster's address may take to answer."""
    without_workers_s: float = 60.0
    """How long a cluster may be without any processor before it is given up."""
    object_store_bytes: int = 200 << 20
    """Shared memory of a local cluster's object store; what is beyond lies on disk until the end."""
