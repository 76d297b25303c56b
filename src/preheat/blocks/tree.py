"""A compressed prefix tree over prompts, in whole blocks.

An edge holds a run of blocks that no prompt has left so far; it is split, at a block boundary, when one does. Unique
text is kept once, and a walk compares whole edges at the speed of memory, so that insertion costs about one
dictionary look-up per branching point, not per block.
"""

from __future__ import annotations

from collections.abc import Iterator

import xxhash

from preheat.records.profile import BLOCK_CHARS, BUCKET_S


class TreeNode:
    """One edge and what is below it. ``text`` is the edge's own text; counts are of prompts that pass all of it.

    ``untimed`` of the ``count`` prompts came without a time: they are in neither ``arrivals`` nor the two times.
    """

    __slots__ = ("arrivals", "children", "count", "ends", "first_s", "last_s", "parent", "tenants", "text", "untimed")

    def __init__(self, text: str, parent: TreeNode | None) -> None:
        self.text = text
        self.parent = parent
        self.children: dict[str, TreeNode] = {}
        self.count = 0
        self.ends = 0
        self.untimed = 0
        self.first_s = float("inf")
        self.last_s = float("-inf")
        self.arrivals: dict[int, int] = {}
        self.tenants: dict[str, int] = {}

    def touch(self, time_s: float | None, bucket: int, tenant: str | None) -> None:
        self.count += 1
        if time_s is None:
            self.untimed += 1
        else:
            self.first_s = min(self.first_s, time_s)
            self.last_s = max(self.last_s, time_s)
            self.arrivals[bucket] = self.arrivals.get(bucket, 0) + 1
        if tenant is not None:
            self.tenants[tenant] = self.tenants.get(tenant, 0) + 1

    def prefix(self) -> str:
        """The whole text from the root to the end of this edge."""
        parts: list[str] = []
        node: TreeNode | None = self
        while node is not None:
            parts.append(node.text)
            node = node.parent
        return "".join(reversed(parts))


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


class PrefixTree:
    """Prompts in, shared prefixes out. Only whole blocks are kept; a prompt's last partial block is dropped.

    ``max_nodes`` and ``max_chars`` bound the memory: past either, the oldest prompts that were seen once lose their
    own tails (``pruned`` counts the nodes dropped), those without a time before all others. Counts of what remains
    stay exact; a tail that was dropped and comes again starts anew, and ends where it was cut count as ``ends``.
    """

    def __init__(
        self,
        block_chars: int = BLOCK_CHARS,
        bucket_s: float = BUCKET_S,
        max_nodes: int = 600_000,
        max_chars: int = 160_000_000,
    ) -> None:
        self.block_chars = block_chars
        self.bucket_s = bucket_s
        self.max_nodes = max_nodes
        self.max_chars = max_chars
        self.root = TreeNode("", None)
        self.nodes = 0
        self.chars = 0
        self.pruned = 0

    def insert(self, prompt: str, time_s: float | None, tenant: str | None = None) -> tuple[int, int]:
        """Add a prompt; returns ``(blocks, hit_blocks)``: its whole blocks, and those that were in the tree before."""
        end = len(prompt) // self.block_chars * self.block_chars
        bucket = 0 if time_s is None else int(time_s // self.bucket_s)
        node, position, hit = self.root, 0, 0
        while position < end:
            child = node.children.get(prompt[position : position + self.block_chars])
            if child is None:
                node = self._grow(node, prompt[position:end])
                position = end
            else:
                edge = child.text
                if not (len(edge) <= end - position and prompt.startswith(edge, position)):
                    shared = common_blocks_chars(edge, prompt[position:end], self.block_chars)
                    child = self._split(child, shared)
                node = child
                position += len(child.text)
                hit = position
            node.touch(time_s, bucket, tenant)
        node.ends += 1
        if self.nodes > self.max_nodes or self.chars > self.max_chars:
            self._prune()
        return end // self.block_chars, hit // self.block_chars

    def match(self, prompt: str) -> tuple[TreeNode, int]:
        """The deepest node that ``prompt`` passes completely, and how many of its characters the tree holds."""
        end = len(prompt) // self.block_chars * self.block_chars
        node, position = self.root, 0
        while position < end:
            child = node.children.get(prompt[position : position + self.block_chars])
            if child is None:
                break
            if not prompt.startswith(child.text, position):
                position += common_blocks_chars(child.text, prompt[position:end], self.block_chars)
                break
            node, position = child, position + len(child.text)
        return node, position

    def walk(self) -> Iterator[tuple[TreeNode, int, str]]:
        """Every node but the root, parents first: ``(node, parent's number or -1, hash of the whole prefix)``.

        Numbers count the yielded nodes from 0. The hash is xxh3-128 over the prefix's UTF-8 text, so it does not
        depend on where edges happen to be split.
        """
        number = 0
        stack = [(child, -1, xxhash.xxh3_128()) for child in reversed(self.root.children.values())]
        while stack:
            node, parent, before = stack.pop()
            state = before.copy()
            state.update(node.text.encode("utf-8", "surrogatepass"))
            yield node, parent, state.hexdigest()
            stack.extend((child, number, state) for child in reversed(node.children.values()))
            number += 1

    def _grow(self, parent: TreeNode, text: str) -> TreeNode:
        leaf = TreeNode(text, parent)
        parent.children[text[: self.block_chars]] = leaf
        self.nodes += 1
        self.chars += len(text)
        return leaf

    def _split(self, child: TreeNode, at_chars: int) -> TreeNode:
        """Cut ``child``'s edge after ``at_chars`` characters; returns the new upper node, which has its counts."""
        assert child.parent is not None
        upper = TreeNode(child.text[:at_chars], child.parent)
        upper.count, upper.untimed, upper.first_s, upper.last_s = (
            child.count,
            child.untimed,
            child.first_s,
            child.last_s,
        )
        upper.arrivals, upper.tenants = dict(child.arrivals), dict(child.tenants)
        child.parent.children[upper.text[: self.block_chars]] = upper
        child.text, child.parent = child.text[at_chars:], upper
        upper.children[child.text[: self.block_chars]] = child
        self.nodes += 1
        return upper

    def _prune(self) -> None:
        """Drop the oldest tails that were seen once until three quarters of the bounds are kept."""
        singles = [node for node, _, _ in self.walk() if not node.children and node.count == 1]
        singles.sort(key=lambda node: node.last_s)
        for leaf in singles:
            if self.nodes <= 0.75 * self.max_nodes and self.chars <= 0.75 * self.max_chars:
                return
            assert leaf.parent is not None
            del leaf.parent.children[leaf.text[: self.block_chars]]
            leaf.parent.ends += leaf.ends
            self.nodes -= 1
            self.chars -= len(leaf.text)
            self.pruned += 1
        self.max_nodes = max(self.max_nodes, 2 * self.nodes)
        self.max_chars = max(self.max_chars, 2 * self.chars)
