"""The token-flow topology of a profile (spec 4.1): hubs by PageRank, and what sets each class of prompts apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from preheat.mine.pagerank import pagerank
from preheat.mine.prompts import prefix
from preheat.mine.settings import MineSettings
from preheat.mine.subwords import INSIDE
from preheat.mine.token_graph import Flow, Split, TokenGraph, evened, whole
from preheat.records.profile import ClassFlow, Hub, Link, Profile, Topology

TOP = 12
"""Hubs told of each class."""

_COMMON_TIMES = 8

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ClassesOf = Callable[[str], Collection[str]] | Mapping[int, Collection[str]]
"""A prompt's text → its classes; or the index of the node at which it ends → its classes."""


def topology(
    profile: Profile, classes_of: ClassesOf, settings: MineSettings | None = None, split: Split | None = None
) -> Topology | None:
    """The topology of all that ``profile`` kept the text of; ``None`` where that is nothing.

    A function of the profile's nodes alone, whatever their order: to be computed again after a merge.
    """
    settings = settings or MineSettings()
    prompts = draw_prompts(profile, classes_of, settings.topology_class_prompts)
    flow = Flow(profile, settings, split, [each.node for each in prompts])
    if not len(flow.vocabulary):
        return None
    found = whole(flow)
    hubs = hub_places(found, settings.topology_hubs)
    names = sorted({name for each in prompts for name in each.classes})
    common = _rank(_evened(flow, prompts, _COMMON_TIMES * settings.topology_class_words)[1])
    return Topology(
        subwords=len(found.vocabulary),
        transitions=int(found.matrix.nnz),
        weight=int(found.matrix.sum()),
        mean_in_degree=round(float(found.in_degree.mean()), 4),
        covered=round(found.covered, 6),
        hubs=tuple(_hub(found.vocabulary, found.rank, found.in_degree, place) for place in hubs),
        links=_links(found, hubs),
        classes=tuple(_class_flow(flow, found, common, name, prompts, settings) for name in names),
        class_requests=round(sum(each.weight for each in prompts)),
        class_prompts=len(prompts),
    )


def hub_places(found: TokenGraph, most: int) -> list[int]:
    """The subwords of most rank that may be shown, best first; equal ones in the order of their text."""
    return found.best(found.rank)[:most]


@dataclass(frozen=True)
class DrawnPrompt:
    """A prompt that ends at ``node`` and stands for ``weight`` requests; ``place`` in [0, 1) orders them at random."""

    node: int
    weight: float
    place: float
    classes: tuple[str, ...]


def draw_prompts(profile: Profile, classes_of: ClassesOf, about: int) -> list[DrawnPrompt]:
    """About ``about`` of the prompts whose text was kept, with their classes, drawn by hash.

    A prompt that ``n`` requests end with is drawn with probability min(1, n / threshold) and stands for
    max(n, threshold) of them, so that sums over the drawn ones estimate sums over all without bias (threshold
    sampling: Duffield, Lund and Thorup 2007).
    """
    nodes = profile.nodes
    known = None if callable(classes_of) else classes_of
    ends = [
        n for n, node in enumerate(nodes) if node.ends > 0 and node.text is not None and (known is None or n in known)
    ]
    threshold = _threshold(np.array([nodes[n].ends for n in ends], np.float64), about)
    drawn = []
    for number in ends:
        node = nodes[number]
        place = int(node.hash[:13] or "0", 16) / 16.0**13
        if place * threshold < node.ends:
            classes = classes_of(prefix(profile, number)) if callable(classes_of) else classes_of[number]
            weight = max(float(node.ends), np.ceil(16 * threshold) / 16)
            drawn.append(DrawnPrompt(number, weight, place, tuple(sorted(map(str, classes)))))
    return sorted(drawn, key=lambda each: (each.place, nodes[each.node].hash))


def _threshold(counts: Floats, about: int) -> float:
    """So that the sum of min(1, count / threshold) is ``about``; 0 where all are few enough."""
    if len(counts) <= about:
        return 0.0
    ascending = np.sort(counts)
    sums = np.cumsum(ascending)
    for capped in range(min(about, len(counts))):  # the heaviest are drawn for certain
        light = len(counts) - capped
        threshold = float(sums[light - 1]) / (about - capped)
        if ascending[light - 1] <= threshold:
            return threshold
    return float(ascending[-1])


def _class_flow(
    flow: Flow, found: TokenGraph, common: Floats, name: str, prompts: list[DrawnPrompt], settings: MineSettings
) -> ClassFlow:
    members = [each for each in prompts if name in each.classes]
    edges, matrix = _evened(flow, members, settings.topology_class_words)
    degree = np.bincount(matrix.indices, minlength=matrix.shape[0])
    rank = _rank(matrix)
    apart = np.divide(rank - common, np.sqrt(common), out=np.zeros(len(rank)), where=common > 0)
    used = int(np.count_nonzero(rank))
    return ClassFlow(
        name=name,
        requests=round(sum(each.weight for each in members)),
        words=int(flow.lengths[edges].sum()),
        subwords=used,
        mean_in_degree=round(float(matrix.nnz / max(1, used)), 4),
        top=tuple(
            _hub(found.vocabulary, rank, degree, place) for place in _telling(found.best(apart), found.vocabulary)
        ),
        hubs=tuple(_hub(found.vocabulary, rank, degree, place) for place in found.best(rank)[:TOP]),
    )


def _rank(matrix: csr_array[Any]) -> Floats:
    """PageRank among the subwords that have a transition; 0 for the others."""
    used = np.flatnonzero((np.bincount(matrix.indices, minlength=matrix.shape[0]) > 0) | (np.diff(matrix.indptr) > 0))
    rank = np.zeros(matrix.shape[0])
    rank[used] = pagerank(csr_array(matrix[used][:, used]))
    return rank


def _evened(flow: Flow, prompts: list[DrawnPrompt], most_words: int) -> tuple[Ints, csr_array[Any]]:
    """Edges and transitions of prompts, text counting by the logarithm of its requests.

    So no single template speaks for a class.
    """
    edges, weights = _edges(flow, prompts, most_words)
    return edges, flow.matrix(edges, evened(weights))


def _edges(flow: Flow, members: list[DrawnPrompt], most_words: int) -> tuple[Ints, Floats]:
    """The tree's edges that the prompts pass, with the requests of each, as far as ``most_words`` go."""
    passed: dict[int, float] = {}
    words = 0
    for each in members:
        if words >= most_words:
            break
        number = each.node
        while number >= 0:
            if number not in passed:
                passed[number] = 0.0
                words += int(flow.lengths[number])
            passed[number] += each.weight
            number = flow.columns.parents[number]
    return np.array(sorted(passed), np.int64), np.array([passed[number] for number in sorted(passed)], np.float64)


def _telling(places: list[int], vocabulary: list[str]) -> list[int]:
    """The first that say something by themselves: no parts of words, no numbers, nothing twice in other letters."""
    told: dict[str, int] = {}
    for place in places:
        token = vocabulary[place]
        if not token.startswith(INSIDE) and not token.isdecimal():
            told.setdefault(token.casefold(), place)
        if len(told) == TOP:
            break
    return list(told.values())


def _links(found: TokenGraph, hubs: list[int]) -> tuple[Link, ...]:
    """The transitions between hubs, heaviest first."""
    part = found.between(hubs)
    made = [
        Link(source=int(source), target=int(target), weight=round(float(weight)))
        for source, target, weight in zip(part.row, part.col, part.data, strict=True)
    ]
    return tuple(sorted(made, key=lambda link: (-link.weight, link.source, link.target)))


def _hub(vocabulary: list[str], rank: NDArray[Any], degree: NDArray[Any], place: int) -> Hub:
    return Hub(token=vocabulary[place], rank=round(float(rank[place]), 9), in_degree=int(degree[place]))
