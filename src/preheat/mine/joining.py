"""Prompts that were not compared with others, put into the cluster whose template they are recognised by."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from heapq import nsmallest

from msgspec import structs

from preheat.mine.clusters import Clustering
from preheat.mine.library import Library, library
from preheat.mine.prompts import prefix
from preheat.records.profile import Profile

MOST = 20_000
"""Prompts that are tried at most, drawn evenly."""


def joined(profile: Profile, found: Clustering) -> Clustering:
    """``found`` with the prompts that had no cluster in the one that recognises them, largest clusters first again."""
    nodes = profile.nodes
    alone = [n for n, node in enumerate(nodes) if node.ends and found.of[n] < 0 and node.text is not None]
    if not alone or not found.clusters:
        return found
    known = Library(library(profile, found))
    of = list(found.of)
    sizes: Counter[int] = Counter()
    blocks: Counter[int] = Counter()
    for number in nsmallest(MOST, alone, key=lambda n: nodes[n].hash):
        text = prefix(profile, number)
        got = known.recognise(text)
        if got is not None and found.clusters[got.cluster].partition == nodes[number].partition:
            of[number] = got.cluster
            sizes[got.cluster] += nodes[number].ends
            blocks[got.cluster] += nodes[number].ends * (len(text) // profile.block_chars)
    grown = [
        structs.replace(
            cluster,
            size=cluster.size + sizes[n],
            share=(cluster.size + sizes[n]) / max(1, profile.requests),
            share_blocks=cluster.share_blocks + blocks[n] / max(1, profile.blocks),
        )
        for n, cluster in enumerate(found.clusters)
    ]
    order = sorted(range(len(grown)), key=lambda n: -grown[n].size)
    places = {number: place for place, number in enumerate(order)}
    return replace(
        found,
        clusters=[grown[number] for number in order],
        of=[places.get(number, -1) for number in of],
        representatives=[found.representatives[number] for number in order],
        heads=[found.heads[number] for number in order],
    )
