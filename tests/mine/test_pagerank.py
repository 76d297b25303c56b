"""PageRank against networkx, and what must hold of it."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from scipy.sparse import csr_array

from preheat.mine.pagerank import pagerank


@pytest.mark.parametrize(("nodes", "share"), [(1, 1.0), (2, 0.5), (40, 0.02), (40, 0.3), (300, 0.01)])
def test_it_agrees_with_networkx(nodes: int, share: float) -> None:
    draw = np.random.default_rng(nodes)
    weights = np.where(draw.random((nodes, nodes)) < share, draw.integers(1, 1000, (nodes, nodes)), 0)
    dangling = (weights.sum(axis=1) == 0).sum()
    assert nodes < 40 or share > 0.1 or dangling
    graph = networkx.from_numpy_array(weights, create_using=networkx.DiGraph)
    expected = networkx.pagerank(graph, alpha=0.85, tol=1e-13, max_iter=1000)
    found = pagerank(csr_array(weights.astype(float)), tolerance=1e-13)
    assert found.tolist() == pytest.approx([expected[node] for node in range(nodes)], abs=1e-10)
    assert found.sum() == pytest.approx(1.0)


def test_no_node_has_no_rank() -> None:
    assert pagerank(csr_array((0, 0))).shape == (0,)


def test_a_graph_without_edges_ranks_all_alike() -> None:
    assert pagerank(csr_array((4, 4))).tolist() == pytest.approx([0.25] * 4)
