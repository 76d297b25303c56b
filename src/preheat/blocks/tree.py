"""A compressed prefix tree over prompts, in whole blocks.

An edge holds a run of blocks that no prompt has left so far; it is split, at a block boundary, when one does. Unique
text is kept once, and a walk compares whole edges at the speed of memory, so that insertion costs about one
dictionary look-up per branching point, not per block. Only the node where a prompt ends is written to; how many
prompts *pass* a node is the sum over what is below it, taken once, at the end (:mod:`preheat.blocks.totals`).
"""

from __future__ import annotations

from collections.abc import Iterator

from preheat.blocks.bounds import Bounds, prune
from preheat.records.profile import BLOCK_CHARS, BUCKET_S

NO_TENANT = 0
"""The number of those that the log names no tenant for."""
UNTIMED = 1 << 40
"""The bucket of those that the log gives no time for."""
TENANT_BITS = 32
TENANT_MASK = (1 << TENANT_BITS) - 1
_NO_CHILDREN: dict[str, TreeNode] = {}
"""Shared by all leaves; never written to."""


class TreeNode:
    """One edge and what is below it. ``text`` is the edge's own text.

    ``uses`` are the prompts that end here, by ``bucket << 32 | tenant``: one such number while there was but one
    prompt, as at most nodes, then a dictionary of counts; ``None`` where none ended. ``first_s`` and ``last_s`` are
    theirs. ``error``: see :mod:`preheat.blocks.bounds`.
    """

    __slots__ = ("children", "error", "first_s", "last_s", "text", "uses")

    def __init__(self, text: str) -> None:
        self.text = text
        self.children = _NO_CHILDREN
        self.error = 0
        self.uses: int | dict[int, int] | None = None
        self.first_s = float("inf")
        self.last_s = float("-inf")

    @property
    def weight(self) -> int:
        return len(self.text)

    @property
    def ends(self) -> int:
        """Prompts that have no further whole block (or had some that were pruned)."""
        uses = self.uses
        if uses is None:
            return 0
        return sum(uses.values()) if isinstance(uses, dict) else 1

    def drop(self, key: str) -> TreeNode:
        """Take out the leaf under ``key``; its prompts end here from now on. (Nobody asks who ends at the root.)"""
        leaf = self.children.pop(key)
        gained = leaf.uses
        if not self.text or gained is None:
            return leaf
        if self.uses is None:
            self.uses = gained
        else:
            if not isinstance(self.uses, dict):
                self.uses = {self.uses: 1}
            for use, count in gained.items() if isinstance(gained, dict) else ((gained, 1),):
                self.uses[use] = self.uses.get(use, 0) + count
        self.first_s, self.last_s = min(self.first_s, leaf.first_s), max(self.last_s, leaf.last_s)
        return leaf


def common_blocks_chars(left: str, right: str, block_chars: int) -> int:
    """Length in characters of the longest common prefix of two strings, rounded down to whole blocks."""
    low, high = 0, min(len(left), len(right)) // block_chars
    while low < high:
        middle = (low + high + 1) // 2
        if left[low * block_chars : middle * block_chars] == right[low * block_chars : middle * block_chars]:
            low = middle
        else:
            high = middle - 1
    return low * block_chars


def coarser_uses(uses: dict[int, int], factor: int) -> dict[int, int]:
    """Uses by buckets ``factor`` times as long."""
    found: dict[int, int] = {}
    for use, count in uses.items():
        bucket = use >> TENANT_BITS
        if bucket != UNTIMED:
            use = bucket // factor << TENANT_BITS | use & TENANT_MASK
        found[use] = found.get(use, 0) + count
    return found


class PrefixTree:
    """Prompts in, shared prefixes out. Only whole blocks are kept; a prompt's last partial block is dropped.

    ``bounds`` may be shared by several trees: whoever owns them prunes them together, when they are exceeded
    (``Bounds.exceeded``, after an insertion). A tree with bounds of its own prunes itself.
    """

    def __init__(
        self, block_chars: int = BLOCK_CHARS, bucket_s: float = BUCKET_S, bounds: Bounds | None = None
    ) -> None:
        self.block_chars = block_chars
        self.bucket_s = bucket_s
        self.bounds = bounds or Bounds()
        self._alone = bounds is None
        self.root = TreeNode("")

    def insert(self, prompt: str, time_s: float | None, tenant: int = NO_TENANT) -> tuple[int, int]:
        """Add a prompt; returns ``(blocks, hit_blocks)``: its whole blocks, and those that were in the tree before."""
        size = self.block_chars
        end = len(prompt) // size * size
        node, position, hit = self.root, 0, 0
        while position < end:
            child = node.children.get(prompt[position : position + size])
            if child is None:
                node = self._grow(node, prompt[position:end])
                break
            edge = child.text
            if not prompt.startswith(edge, position, end):
                child = self._split(node, child, common_blocks_chars(edge, prompt[position:end], size))
                edge = child.text
            node = child
            position = hit = position + len(edge)
        bucket = UNTIMED
        if time_s is not None:
            bucket = int(time_s // self.bucket_s)
            if time_s > node.last_s:
                node.last_s = time_s
            if time_s < node.first_s:
                node.first_s = time_s
        use, uses = bucket << TENANT_BITS | tenant, node.uses
        if uses is None:
            node.uses = use
        elif isinstance(uses, dict):
            known = uses.get(use)
            if known is None:
                self.bounds.uses += 1
            uses[use] = (known or 0) + 1
        else:
            node.uses = {uses: 1, use: 1} if uses != use else {use: 2}
            self.bounds.uses += 2
        if self._alone and self.bounds.exceeded:
            prune([self.root], self.bounds)
        return end // size, hit // size

    def coarsen(self) -> None:
        """Count by buckets of twice the length from now on."""
        self.bucket_s *= 2
        for node in (self.root, *(each for each, _ in self.walk())):
            uses = node.uses
            if isinstance(uses, dict):
                self.bounds.uses -= len(uses)
                node.uses = uses = coarser_uses(uses, 2)
                self.bounds.uses += len(uses)
            elif uses is not None:
                (node.uses,) = coarser_uses({uses: 1}, 2)

    def match(self, prompt: str) -> tuple[list[TreeNode], int]:
        """The nodes that ``prompt`` passes completely, from the root's child down, and how much of it the tree holds.

        The latter in characters, whole blocks; it may end within the edge after the last of the nodes.
        """
        end = len(prompt) // self.block_chars * self.block_chars
        node, position = self.root, 0
        path: list[TreeNode] = []
        while position < end:
            child = node.children.get(prompt[position : position + self.block_chars])
            if child is None:
                break
            if not prompt.startswith(child.text, position):
                position += common_blocks_chars(child.text, prompt[position:end], self.block_chars)
                break
            node, position = child, position + len(child.text)
            path.append(node)
        return path, position

    def walk(self) -> Iterator[tuple[TreeNode, int]]:
        """Every node but the root, parents first: ``(node, parent's number or -1)``; numbers count from 0."""
        number = 0
        stack = [(child, -1) for child in reversed(self.root.children.values())]
        while stack:
            node, parent = stack.pop()
            yield node, parent
            stack.extend([(child, number) for child in reversed(node.children.values())])
            number += 1

    def _grow(self, parent: TreeNode, text: str) -> TreeNode:
        leaf = TreeNode(text)
        leaf.error = self.bounds.error
        if parent.children is _NO_CHILDREN:
            parent.children = {}
        parent.children[text[: self.block_chars]] = leaf
        self.bounds.nodes += 1
        self.bounds.chars += len(text)
        return leaf

    def _split(self, above: TreeNode, child: TreeNode, at_chars: int) -> TreeNode:
        """Cut the edge of ``above``'s ``child`` after ``at_chars`` characters; returns the new node between them."""
        upper = TreeNode(child.text[:at_chars])
        upper.error = child.error
        above.children[upper.text[: self.block_chars]] = upper
        child.text = child.text[at_chars:]
        upper.children = {child.text[: self.block_chars]: child}
        self.bounds.nodes += 1
        return upper
