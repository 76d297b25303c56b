"""PageRank (Brin and Page 1998) by power iteration over a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

DAMPING = 0.85
TOLERANCE = 1e-9
MOST_ROUNDS = 500


def pagerank(weights: csr_array[Any], damping: float = DAMPING, tolerance: float = TOLERANCE) -> NDArray[np.float64]:
    """The rank of each node, shape ``[nodes]``, summing to 1; ``weights[i, j]`` is the weight of the edge i → j.

    A node without an edge out passes its rank on to all nodes alike. Ends when a round moves less than ``tolerance``
    of the rank in all (L1), or after :data:`MOST_ROUNDS`.
    """
    nodes = weights.shape[0]
    if not nodes:
        return np.zeros(0)
    out = np.asarray(weights.sum(axis=1), np.float64)
    dangling = out == 0
    share = np.divide(1.0, out, out=np.zeros(nodes), where=~dangling)
    moves = csr_array((diags_array(share) @ weights).T)
    rank = np.full(nodes, 1.0 / nodes)
    for _ in range(MOST_ROUNDS):
        passed = moves @ rank + rank[dangling].sum() / nodes
        following = damping * passed + (1.0 - damping) / nodes
        following /= following.sum()
        moved = float(np.abs(following - rank).sum())
        rank = following
        if moved < tolerance:
            break
    return rank
