"""Which text a profile keeps: that of prefixes worth planning, up to a bound; of the rest the digests only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy

from msgspec import structs
from msgspec.structs import force_setattr

from preheat.blocks.digests import text_digests
from preheat.mine.settings import MineSettings
from preheat.records.profile import Node, Profile

HALF_LIFE_S = 43_200.0
"""After half a day a request counts half."""


def retain(profile: Profile, settings: MineSettings, representatives: Sequence[int] = ()) -> Profile:
    """Drop all text (``keep_text`` false), or that of the least promising nodes until ``kept_chars`` are left.

    The ``representatives`` of the clusters (their nodes) and all that leads to them come first; a cluster whose
    representative is dropped tells none. The promise of a prefix is its decayed count. A node that keeps its text has
    parents that keep theirs, since they were asked for whenever it was. Where text is dropped, so is the name, which
    follows from the digests.
    """
    kept = _promising(profile, settings.kept_chars, representatives) if settings.keep_text else set()
    size = profile.block_chars
    nodes = [
        _with_text(node) if number in kept else _without_text(node, size) for number, node in enumerate(profile.nodes)
    ]
    found = profile.clusters
    if not settings.keep_text:
        found = [structs.replace(each, representative=None, template=None) for each in found]
    elif representatives:
        found = [
            cluster if node in kept else structs.replace(cluster, representative=None)
            for cluster, node in zip(found, representatives, strict=True)
        ]
    return structs.replace(profile, nodes=nodes, clusters=found, has_text=bool(kept))


def decayed_counts(profile: Profile, half_life_s: float = HALF_LIFE_S) -> list[float]:
    """Requests through each node, each halved for every ``half_life_s`` that it lies before the log's end."""
    weights: dict[int, float] = {}
    counts: list[float] = []
    rate, bucket_s, end_s = math.log(2) / half_life_s, profile.bucket_s, profile.end_s
    for node in profile.nodes:
        total = float(node.untimed)
        for bucket, count in node.arrivals.items():
            weight = weights.get(bucket)
            if weight is None:
                weight = weights[bucket] = math.exp(-rate * max(0.0, end_s - (bucket + 0.5) * bucket_s))
            total += count * weight
        counts.append(total)
    return counts


def _promising(profile: Profile, chars: int, pinned: Iterable[int]) -> set[int]:
    """The nodes that keep their text."""
    nodes = profile.nodes
    with_text = [number for number, node in enumerate(nodes) if node.text is not None]
    if sum([nodes[number].blocks for number in with_text]) * profile.block_chars <= chars:
        return set(with_text)
    first: set[int] = set()
    for number in pinned:
        while number >= 0 and number not in first:
            first.add(number)
            number = nodes[number].parent
    counts = decayed_counts(profile)
    with_text.sort(key=lambda number: (number not in first, -counts[number], number))
    kept: set[int] = set()
    for number in with_text:
        chars -= nodes[number].blocks * profile.block_chars
        if chars < 0:
            break
        kept.add(number)
    return kept


def _with_text(node: Node) -> Node:
    if node.block_hashes is None:
        return node
    kept = copy(node)  # with its fields set afterwards: several times faster than structs.replace
    force_setattr(kept, "block_hashes", None)
    return kept


def _without_text(node: Node, block_chars: int) -> Node:
    if node.text is None and not node.hash:
        return node
    bare = copy(node)
    if node.block_hashes is None and node.text is not None:
        force_setattr(bare, "block_hashes", text_digests(node.text, block_chars).hex())
    force_setattr(bare, "text", None)
    force_setattr(bare, "hash", "")
    return bare
