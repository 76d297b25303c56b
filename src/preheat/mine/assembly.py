"""Trees and shares → the profile that they make, in canonical order, before anything is derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from preheat.blocks.bounds import Bounds
from preheat.mine.edges import Edge, placed
from preheat.mine.shares import added
from preheat.records.profile import Node, Partition, Profile, Share
from preheat.records.rendering import Rendering

NOBODY = ""
"""Stands for no tenant among the shares of a partition."""


class Key(NamedTuple):
    """What keeps trees apart; ``block_tokens`` is ``None`` for text."""

    model: str | None
    adapter: str | None
    block_tokens: int | None

    def order(self) -> tuple[str, bool, str, bool, int]:
        return (
            self.model or "",
            self.model is not None,
            self.adapter or "",
            self.adapter is not None,
            -1 if self.block_tokens is None else self.block_tokens,
        )


class Part(NamedTuple):
    """One partition: its shares by tenant, and its edges, parents first."""

    key: Key
    shares: dict[str, Share]
    edges: Sequence[Edge]


def key_of(partition: Partition) -> Key:
    return Key(partition.model, partition.adapter, partition.block_tokens)


def assembled(
    parts: Sequence[Part],
    *,
    rendering: Rendering,
    block_chars: int,
    bucket_s: float,
    bounds: Bounds,
    skipped: dict[str, int],
) -> Profile:
    """The profile, without what is derived from it."""
    parts = sorted(parts, key=lambda part: part.key.order())
    total = added(share for part in parts for share in part.shares.values())
    tenants: dict[str, int] = {}
    partitions: list[Partition] = []
    nodes: list[Node] = []
    for number, (key, shares, edges) in enumerate(parts):
        for name, share in shares.items():
            if name != NOBODY:
                tenants[name] = tenants.get(name, 0) + share.requests
        requests = sum(share.requests for share in shares.values())
        partitions.append(Partition(key.model, key.adapter, requests, key.block_tokens, dict(sorted(shares.items()))))
        nodes += placed(edges, number, len(nodes))
    return Profile(
        rendering=rendering,
        block_chars=block_chars,
        bucket_s=bucket_s,
        start_s=0.0 if total.first_s is None else total.first_s,
        end_s=0.0 if total.last_s is None else total.last_s,
        requests=total.requests,
        without_prompt=total.without_prompt,
        truncated=total.truncated,
        blocks=total.blocks,
        distinct_blocks=sum([node.blocks for node in nodes]),
        chars=total.chars,
        tenants=dict(sorted(tenants.items())),
        partitions=partitions,
        nodes=nodes,
        arrivals=total.arrivals,
        pruned_nodes=bounds.pruned,
        count_error=bounds.error,
        skipped=dict(sorted(skipped.items())),
    )
