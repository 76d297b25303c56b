"""Bounded memory for prefix trees: what is dropped when a bound bites, and by how much counts can then be short.

The rule is that of lossy counting (Manku and Motwani, 2002) with the weakest entry leaving first, as in space-saving
(Metwally et al., 2005). Every node carries ``error``, the most often that it can have been asked for while it was not
in the tree. Leaves leave in order of ``count + error``, the oldest first among equals; the largest such sum that ever
left is the tree's own ``error``: a prefix that is not in the tree was asked for at most so often, and a node that comes
(back) starts with it. So for every node ``count <= truth <= count + error``, and whatever was asked for more often than
the tree's ``error`` is in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

_KEPT = 0.75
"""The share of a bound that is left when it has bitten."""


class Prunable(Protocol):
    """What pruning needs of a node. ``weight`` is the length of its edge, in blocks or characters."""

    @property
    def error(self) -> int: ...

    @property
    def last_s(self) -> float: ...

    @property
    def children(self) -> dict[Any, Any]: ...

    @property
    def ends(self) -> int:
        """Prompts that have no further block; of a leaf, all that pass it."""
        ...

    @property
    def weight(self) -> int: ...

    def drop(self, key: Any) -> Any:
        """Take out the leaf under ``key``; its prompts end here from now on. Returns the leaf."""
        ...


@dataclass
class Bounds:
    """Limits that several trees share, and what they hold together.

    ``uses`` are the entries that say who asked when; where they are too many, time is told more coarsely
    (:meth:`preheat.blocks.tree.PrefixTree.coarsen`), so that no count is lost.
    """

    max_nodes: int = 300_000
    max_chars: int = 100_000_000
    max_uses: int = 1_000_000
    nodes: int = 0
    chars: int = 0
    uses: int = 0
    error: int = 0
    pruned: int = 0

    @property
    def exceeded(self) -> bool:
        return self.nodes > self.max_nodes or self.chars > self.max_chars

    @property
    def relaxed(self) -> bool:
        """Whether enough room is left to go on for a while."""
        return self.nodes <= _KEPT * self.max_nodes and self.chars <= _KEPT * self.max_chars


def prune(roots: Iterable[Prunable], bounds: Bounds) -> None:
    """Drop the weakest leaves, in rounds from the tips inwards, until three quarters of the bounds are kept.

    Among equals the oldest goes first, those without a time before all others.
    """
    roots = list(roots)
    while not bounds.relaxed:
        leaves = _leaves(roots)
        if not leaves:
            return
        leaves.sort(key=lambda leaf: leaf[:2])
        for strength, _, parent, key in leaves:
            if bounds.relaxed:
                return
            leaf = parent.drop(key)
            bounds.nodes -= 1
            bounds.chars -= leaf.weight
            bounds.pruned += 1
            bounds.error = max(bounds.error, strength)


def _leaves(roots: list[Prunable]) -> list[tuple[int, float, Prunable, Any]]:
    found: list[tuple[int, float, Prunable, Any]] = []
    stack = list(roots)
    while stack:
        parent = stack.pop()
        for key, child in parent.children.items():
            if child.children:
                stack.append(child)
            else:
                found.append((child.ends + child.error, child.last_s, parent, key))
    return found
