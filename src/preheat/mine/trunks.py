"""Where prompts stop being alike: the trunks of the prefix tree, each the constant head of one template.

Requests of one application share a head (system prompt, tool list, few-shot examples, instruction) and then scatter
over questions, passages and conversations. The tree is judged from its leaves up: a place ends a template when its head
says something (long enough, and ending where a sentence, line or field ends) and what is below does not fall into a few
much longer heads of their own. Ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from preheat.mine.contents import MANY, recurring
from preheat.mine.heads import EMPTY, Head
from preheat.mine.places import Places, places_of
from preheat.records.profile import Node

_COVERED = 0.6
"""A head gives way to longer ones when they cover at least this part of its requests."""
_FEW = 12.0
"""As many longer heads (perplexity) are templates; more of them, after an instruction, are passages put into one."""


@dataclass(frozen=True, slots=True)
class Trunks:
    """``home[place]`` is the trunk, itself a place, that prompts ending there belong to, or -1.

    ``contents[trunk]`` is the trunk into which this one was put as recurring content (a document asked about again
    and again), where such contents are told apart from those that come once.
    """

    places: Places
    home: list[int]
    contents: dict[int, int]


def trunks(nodes: Sequence[Node], block_chars: int, threshold: float) -> Trunks:
    """The trunks of all trees. Two heads are one when the shorter is at least ``threshold`` of the longer, in bytes."""
    places = places_of(nodes, block_chars)
    top, absorbed = _ends(places, _heads(nodes, places), threshold)
    contents = {content: trunk for trunk in top for content in recurring(trunk, absorbed.get(trunk, ()), places)}
    return Trunks(places, _homes(places, top, {*top, *contents}), contents)


def _ends(places: Places, heads: dict[int, Head], threshold: float) -> tuple[list[int], dict[int, list[int]]]:
    """The trunks, and for each the longer heads below that it took in."""
    below: dict[int, list[int]] = {}
    absorbed: dict[int, list[int]] = {}
    top: list[int] = []
    for place in reversed(places.order):
        if place not in heads:
            continue
        ends = below.pop(place, [])
        if heads[place].informative:
            ends = _ended(place, ends, places, heads, threshold, absorbed)
        above = places.up[place]
        if above < 0:
            top += ends
        elif above in below:
            below[above] += ends
        else:
            below[above] = ends
    return top, absorbed


def _heads(nodes: Sequence[Node], places: Places) -> dict[int, Head]:
    """What is said up to each place with more than one leaf below."""
    heads: dict[int, Head] = {}
    up, depth, leaves = places.up, places.depth, places.leaves
    for place in places.order:
        if leaves[place] > 1:
            above = up[place]
            start, at = (heads[above], depth[above]) if above >= 0 else (EMPTY, 0)
            owner = places.owner[place]
            text = nodes[owner].text
            if text is None:
                heads[place] = start.unread(depth[place] - at)
            else:
                begins = depth[owner] - len(text)
                heads[place] = start.grown(text[at - begins : depth[place] - begins])
    return heads


def _ended(
    place: int,
    below: list[int],
    places: Places,
    heads: dict[int, Head],
    threshold: float,
    absorbed: dict[int, list[int]],
) -> list[int]:
    """The trunks of a subtree whose top says something: the top itself, or what it falls into.

    Inside a system prompt or tool list it falls into all longer heads that come back. Where a message begins it does
    when these are most of what follows, and inside a text only when they are few besides: else they are contents.
    """
    if not below:
        return [place]
    head = heads[place]
    near = [other for other in below if head.total >= threshold * heads[other].total]
    longer = [other for other in below if head.total < threshold * heads[other].total]
    inside = longer + [content for other in near for content in absorbed.get(other, ())]
    if head.opening or head.said:
        parts = [other for other in inside if places.leaves[other] >= MANY]
        counts = [places.count[other] for other in parts]
        falls = bool(parts) if head.opening else _are_few(counts, places.count[place])
    else:
        parts = longer
        falls = sum(places.count[other] for other in parts) >= _COVERED * places.count[place]
    if falls:
        return [*parts, place] if head.ends_well else longer
    absorbed[place] = inside
    return [place]


def _are_few(counts: list[int], requests: int) -> bool:
    """Whether a few heads, by perplexity, make up most of so many requests."""
    covered = sum(counts)
    if covered < _COVERED * requests:
        return False
    return math.exp(-sum(count / covered * math.log(count / covered) for count in sorted(counts))) <= _FEW


def _homes(places: Places, top: Sequence[int], chosen: set[int]) -> list[int]:
    home = [-1] * len(places.up)
    for place in places.order:
        above = places.up[place]
        home[place] = place if place in chosen else home[above] if above >= 0 else -1
    for trunk in top:  # a prompt of which the tree holds no more than a part of its head
        above = places.up[trunk]
        while above >= 0 and home[above] < 0 and 2 * places.count[trunk] > places.count[above]:
            home[above] = trunk
            above = places.up[above]
    return home
