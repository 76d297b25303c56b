"""A profile's nodes as columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.columns import Columns, columns_of
from preheat.records.profile import Node, Profile


def columns(parents: list[int]) -> Columns:
    nodes = [
        Node(parent=parent, hash=f"{(n * 2654435761) % 2**32:08x}" * 4, blocks=2, count=1, first_s=0.0, last_s=0.0)
        for n, parent in enumerate(parents)
    ]
    return columns_of(Profile(nodes=nodes, block_chars=8))


TREES = st.lists(st.integers(0, 2**16), max_size=60).map(
    lambda draws: [draw % (n + 1) - 1 for n, draw in enumerate(draws)]
)


@given(TREES)
def test_leaves_are_counted_below_each_node(parents: list[int]) -> None:
    made = columns(parents)
    below, least = made.leaves()
    leaves = [n for n in range(len(parents)) if n not in parents]

    def above(node: int) -> set[int]:
        return set() if node < 0 else {node} | above(parents[node])

    for node in range(len(parents)):
        own = [leaf for leaf in leaves if node in above(leaf)]
        assert below[node] == len(own)
        assert least[node] == min(made.hashes[leaf] for leaf in own)


@given(TREES, st.randoms(use_true_random=False))
def test_what_is_chosen_has_all_above_it(parents: list[int], draw: object) -> None:
    chosen = np.array([draw.random() < 0.7 for _ in parents], np.bool_)  # type: ignore[attr-defined]
    kept = columns(parents).with_those_above(chosen)
    for node, parent in enumerate(parents):
        assert kept[node] == (chosen[node] and (parent < 0 or kept[parent]))


def test_text_that_was_not_kept_counts_by_its_blocks() -> None:
    nodes = [Node(parent=-1, hash="", blocks=3, text=text, count=2, first_s=0.0, last_s=0.0) for text in (None, "abc")]
    made = columns_of(Profile(nodes=nodes, block_chars=8))
    assert made.chars.tolist() == [24, 3]
    assert made.kept.tolist() == [False, True]
    assert columns_of(Profile()).parents == []
