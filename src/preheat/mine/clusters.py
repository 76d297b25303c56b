"""Prompt clusters (spec 4.1): every request's prompt with those of its template, one representative each.

Prompts are alike by the constant heads that they share in the prefix tree, and those without such a head by the cosine
of what they share elsewhere. A function of the profile's nodes alone, whatever their order, so that it is computed
again after a merge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from heapq import nsmallest

from preheat.mine.alignment import align
from preheat.mine.classes import classify_cluster
from preheat.mine.contents import MANY
from preheat.mine.leaders import led_groups
from preheat.mine.prompts import prefix
from preheat.mine.settings import MineSettings
from preheat.mine.trunks import Trunks, trunks
from preheat.mine.vectors import shared_vectors
from preheat.records.profile import Cluster, Profile

_MEMBERS, _FEW = 8, 4
"""Prompts that are looked at for the representative and the template of a large cluster, and of another."""
_TOLD = 3
"""Members whose classes decide a large cluster's; another has its representative's."""
_LARGE = 0.001
"""Share of the requests from which a cluster is large."""
_NEARLY_ALL = 0.95
_VARIES = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Clustering:
    """``clusters``, largest first; ``of[node]`` is the cluster of the prompts that end at a node, or -1.

    ``representatives[cluster]`` is the node of its representative, ``heads[cluster]`` are ``(node, characters)`` of its
    constant heads: the first so many characters of that node's prefix. ``prompts`` were told apart in all.
    """

    clusters: list[Cluster]
    of: list[int]
    representatives: list[int]
    heads: list[list[tuple[int, int]]]
    prompts: int


def clusters(profile: Profile, settings: MineSettings) -> list[Cluster]:
    """The clusters of a profile, largest first. A prompt that was asked for once and is like no other has none."""
    return clustering(profile, settings).clusters


def clustering(profile: Profile, settings: MineSettings) -> Clustering:
    """Clusters and who belongs to them."""
    nodes = profile.nodes
    found = trunks(nodes, profile.block_chars, settings.cluster_threshold)
    groups = _groups(profile, found, settings)
    depths = [0] * len(nodes)
    for number, node in enumerate(nodes):
        depths[number] = node.blocks + (depths[node.parent] if node.parent >= 0 else 0)
    ends = [node.ends for node in nodes]
    sizes = [sum([ends[number] for number in members]) for members in groups]
    names = [min([nodes[number].hash for number in members]) for members in groups]
    order = sorted(range(len(groups)), key=lambda group: (-sizes[group], names[group]))
    result: list[Cluster] = []
    heads: list[list[tuple[int, int]]] = []
    representatives: list[int] = []
    of = [-1] * len(nodes)
    for group in order[: settings.max_clusters]:
        members = groups[group]
        if sizes[group] < 2:
            continue
        for number in members:
            of[number] = len(result)
        blocks = sum([ends[number] * depths[number] for number in members])
        cluster, representative = _cluster(profile, members, sizes[group], blocks)
        representatives.append(representative)
        result.append(cluster)
        heads.append(_heads_of(found, members))
    return Clustering(result, of, representatives, heads, sum(map(len, groups)))


def _groups(profile: Profile, found: Trunks, settings: MineSettings) -> list[list[int]]:
    """End nodes by pattern: by trunk, trunks that differ in numbers only as one, the rest by what they share."""
    nodes = profile.nodes
    if settings.cluster_threshold >= 1:
        return [[number] for number, node in enumerate(nodes) if node.ends]
    name = _names(profile, found)
    up, leaves = found.places.up, found.places.leaves
    by_name: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    strays: defaultdict[int, list[int]] = defaultdict(list)
    for number, node in enumerate(nodes):
        if not node.ends:
            continue
        home = found.home[number]
        if home >= 0:
            by_name[name[home]].append(number)
        else:
            top = number
            while up[top] >= 0 and leaves[up[top]] == 1:
                top = up[top]
            strays[top].append(number)
    groups = list(by_name.values())
    light = [group for group in groups if len(group) < MANY]
    rows = [*light, *strays.values()]
    if not profile.has_text or len(rows) < 2:
        return groups + list(strays.values())
    kept = [group for group in groups if len(group) >= MANY]
    return kept + _regrouped(profile, found, rows, settings)


def _regrouped(profile: Profile, found: Trunks, rows: list[list[int]], settings: MineSettings) -> list[list[int]]:
    nodes = profile.nodes
    result: list[list[int]] = []
    by_partition: defaultdict[int, list[tuple[str, int, list[int]]]] = defaultdict(list)
    for row in rows:
        readable = [number for number in row if nodes[number].text is not None]
        if readable:
            last = max(readable, key=lambda number: (found.places.depth[number], nodes[number].hash))
            by_partition[nodes[last].partition].append((nodes[last].hash, last, row))
        else:
            result.append(row)
    for each in by_partition.values():
        if len(each) == 1:
            result.append(each[0][2])
            continue
        each.sort()
        some = each[: settings.cluster_sample]
        vectors = shared_vectors([prefix(profile, last) for _, last, _ in some])
        for group in led_groups(vectors, settings.cluster_threshold):
            result.append([number for index in group for number in some[index][2]])
        result += [row for _, _, row in each[settings.cluster_sample :]]
    return result


def _names(profile: Profile, found: Trunks) -> dict[int, tuple[object, ...]]:
    """What to call each trunk: its head with the numbers left out, and whether it is content that comes back."""
    names: dict[int, tuple[object, ...]] = {}
    for trunk in sorted({trunk for trunk in found.home if trunk >= 0}):
        of = found.contents.get(trunk, trunk)
        owner = found.places.owner[of]
        node = profile.nodes[owner]
        if node.text is None:
            names[trunk] = (of, of != trunk)
        else:
            text = _VARIES.sub("0", prefix(profile, owner)[: found.places.depth[of]])
            names[trunk] = (node.partition, text, of != trunk)
    return names


def _cluster(profile: Profile, members: list[int], size: int, blocks: int) -> tuple[Cluster, int]:
    """A cluster of prompts with its representative's node; ``blocks`` are those of its requests together."""
    nodes = profile.nodes
    readable = [number for number in members if nodes[number].text is not None]
    large = size >= _LARGE * profile.requests
    some = nsmallest(_MEMBERS if large else _FEW, readable or members, key=lambda number: nodes[number].hash)
    texts = [prefix(profile, number) for number in some] if readable else []
    best = _nearest(texts) if texts else 0
    template, slots = align(texts) if texts else (None, ())
    told = texts[:_TOLD] if large else texts[best : best + 1]
    cluster = Cluster(
        representative=texts[best] if texts else None,
        hash=nodes[some[best]].hash,
        partition=nodes[members[0]].partition,
        size=size,
        share=size / max(1, profile.requests),
        share_blocks=blocks / max(1, profile.blocks),
        node=_shared_node(profile, members, size),
        classes=tuple(str(name) for name in classify_cluster(told)) if told else (),
        template=template,
        slots=slots,
    )
    return cluster, some[best]


def _nearest(texts: list[str]) -> int:
    """The text nearest the centroid of all, as sets of words."""
    words = [set(_WORD.findall(text[-1_000:])) for text in texts]
    in_texts = Counter(word for each in words for word in each)
    scores = [sum(in_texts[word] for word in each) / max(1, len(each)) ** 0.5 for each in words]
    return scores.index(max(scores))


def _shared_node(profile: Profile, members: list[int], size: int) -> int:
    """The deepest node that nearly all requests of a cluster pass, or -1."""
    passing: defaultdict[int, int] = defaultdict(int)
    for number in members:
        node, ends = number, profile.nodes[number].ends
        while node >= 0:
            passing[node] += ends
            node = profile.nodes[node].parent
    return max((node for node, requests in passing.items() if requests >= _NEARLY_ALL * size), default=-1)


def _heads_of(found: Trunks, members: list[int]) -> list[tuple[int, int]]:
    homes = sorted({found.home[number] for number in members if found.home[number] >= 0})
    return [(found.places.owner[trunk], found.places.depth[trunk]) for trunk in homes]
