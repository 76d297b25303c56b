"""The prefix tree refined from blocks to single characters: every place at which prompts part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from preheat.records.profile import Node


@dataclass(slots=True)
class Places:
    """Number ``n`` is the end of node ``n``, those past the nodes lie inside a block.

    ``up`` is the place before (-1: none), ``depth`` in characters, ``owner`` a node whose edge passes the place,
    ``count`` requests that pass it, ``leaves`` the prompts below that no other continues; ``order`` by depth.
    """

    up: list[int]
    depth: list[int]
    count: list[int]
    owner: list[int]
    leaves: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)


def places_of(nodes: Sequence[Node], block_chars: int) -> Places:
    """The places of all trees."""
    below: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    depth: list[int] = []
    for number, node in enumerate(nodes):
        parent = node.parent
        length = node.blocks * block_chars if node.text is None else len(node.text)
        depth.append(length + (depth[parent] if parent >= 0 else 0))
        below[node.partition, parent].append(number)
    found = Places([node.parent for node in nodes], depth, [node.count for node in nodes], list(range(len(nodes))))
    for (_, parent), children in below.items():
        if len(children) > 1:
            texts = sorted([((nodes[number].text or "")[:block_chars], number) for number in children])
            _branch(found, parent, texts)
    _count(found, len(nodes))
    return found


def _branch(found: Places, parent: int, children: list[tuple[str, int]]) -> None:
    """Add the places at which the children of one node part inside their first block: their texts' radix tree.

    ``children`` are ``(text of the block, node)``, sorted. As little-endian numbers of 32 bits a character, two texts
    differ first where their exclusive or has its lowest bit.
    """
    base = found.depth[parent] if parent >= 0 else 0
    codes = [int.from_bytes(text.encode("utf-32-le", "surrogatepass"), "little") for text, _ in children]
    codes.append(0)
    stack = [(0, parent)]
    last = children[0][1]
    for index in range(1, len(codes)):
        differ = codes[index - 1] ^ codes[index]
        shared = ((differ & -differ).bit_length() - 1) // 32 if differ and index < len(children) else 0
        number = children[index][1] if index < len(children) else -1
        while stack[-1][0] > shared:
            place = stack.pop()[1]
            found.up[last] = place
            last = place
        if stack[-1][0] < shared:
            found.up.append(stack[-1][1])
            found.depth.append(base + shared)
            found.count.append(0)
            found.owner.append(number)
            stack.append((shared, len(found.up) - 1))
        found.up[last] = stack[-1][1]
        last = number


def _count(found: Places, real: int) -> None:
    """Order the places by depth, and count requests and leaves below those inside blocks."""
    found.order = np.argsort(np.array(found.depth), kind="stable").tolist()
    up, count = found.up, found.count
    leaves = found.leaves = [0] * len(up)
    for place in reversed(found.order):
        leaves[place] = leaves[place] or 1
        above = up[place]
        if above >= 0:
            leaves[above] += leaves[place]
            if above >= real:
                count[above] += count[place]
