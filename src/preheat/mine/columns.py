"""A profile's nodes as columns, for what works on all of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preheat.records.profile import Profile


@dataclass(frozen=True)
class Columns:
    """One entry a node: its parent's index (or -1), requests that pass, the first 64 bits of its prefix's hash,
    the characters of its edge, and whether their text was kept."""

    parents: list[int]
    counts: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    chars: NDArray[np.int64]
    kept: NDArray[np.bool_]

    def leaves(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Of each node, how many leaves are below (itself, where it is one), and the least of their hashes."""
        parents, hashes = self.parents, self.hashes.tolist()
        below, least = [0] * len(parents), [1 << 64] * len(parents)
        for number in range(len(parents) - 1, -1, -1):
            if not below[number]:
                below[number], least[number] = 1, hashes[number]
            parent = parents[number]
            if parent >= 0:
                below[parent] += below[number]
                if least[number] < least[parent]:
                    least[parent] = least[number]
        return np.array(below, np.int64), np.array(least, np.uint64)

    def with_those_above(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of the chosen nodes, those of which all above are chosen as well."""
        if chosen.all():
            return chosen
        looked = chosen.tolist()
        for number in np.flatnonzero(chosen).tolist():
            parent = self.parents[number]
            looked[number] = parent < 0 or looked[parent]
        return np.array(looked, np.bool_)


def columns_of(profile: Profile) -> Columns:
    """The columns of ``profile.nodes``, in their order."""
    nodes, block = profile.nodes, profile.block_chars
    chars = [node.blocks * block if node.text is None else len(node.text) for node in nodes]
    return Columns(
        [node.parent for node in nodes],
        np.array([node.count for node in nodes], np.int64),
        np.array([int(node.hash[:16] or "0", 16) for node in nodes], np.uint64),
        np.array(chars, np.int64),
        np.array([node.text is not None for node in nodes], np.bool_),
    )
