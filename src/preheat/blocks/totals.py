"""How many prompts pass each node of a tree: sums over what is below it, from the leaves up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from preheat.blocks.tree import TreeNode


@dataclass(slots=True)
class Total:
    """The prompts that pass the whole of a node's edge: by ``bucket << 32 | tenant``, and when first and last."""

    count: int
    uses: dict[int, int]
    first_s: float
    last_s: float


def totals(nodes: list[tuple[TreeNode, int]]) -> Iterator[tuple[int, Total]]:
    """``(number, total)`` for each of :meth:`PrefixTree.walk`'s nodes, the last first, so children before parents.

    A total is good until the next one is asked for: it is then handed on to the parent, so that the larger
    of two is never copied.
    """
    gathered: dict[int, Total] = {}
    for number in range(len(nodes) - 1, -1, -1):
        node, parent = nodes[number]
        total = _with_own(node, gathered.pop(number, None))
        yield number, total
        if parent >= 0:
            above = gathered.get(parent)
            gathered[parent] = total if above is None else _sum(above, total)


def _with_own(node: TreeNode, below: Total | None) -> Total:
    own = node.uses
    if own is None:
        return below or Total(0, {}, float("inf"), float("-inf"))
    if isinstance(own, dict):
        mine = Total(sum(own.values()), dict(own), node.first_s, node.last_s)
    else:
        mine = Total(1, {own: 1}, node.first_s, node.last_s)
    return mine if below is None else _sum(below, mine)


def _sum(left: Total, right: Total) -> Total:
    """Both in one, in the one with the larger dictionary."""
    if len(left.uses) < len(right.uses):
        left, right = right, left
    uses = left.uses
    for use, count in right.uses.items():
        uses[use] = uses.get(use, 0) + count
    left.count += right.count
    if right.first_s < left.first_s:
        left.first_s = right.first_s
    if right.last_s > left.last_s:
        left.last_s = right.last_s
    return left
