"""Groups of vectors at a least cosine, without comparing all pairs."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array


def led_groups(vectors: csr_array[np.float32], threshold: float) -> list[list[int]]:
    """Each row joins the nearest leader so far, if that lies at cosine >= threshold, else leads a group itself.

    Rows of zeros are alone. Only rows and leaders that share a column are multiplied (a sparse product is an inverted
    index), 256 rows at a time, and no candidate is left out: what is grouped is exact.
    """
    groups: list[list[int]] = []
    leaders: list[int] = []
    step = 256
    for start in range(0, vectors.shape[0], step):
        block = vectors[start : start + step]
        known = (block @ vectors[leaders].T).toarray() if leaders else np.zeros((block.shape[0], 0))
        inside = (block @ block.T).toarray()
        fresh: list[int] = []
        for row in range(block.shape[0]):
            scores = np.concatenate([known[row], inside[row, fresh]])
            best = int(scores.argmax()) if scores.size else -1
            if best >= 0 and scores[best] >= threshold:
                groups[best].append(start + row)
            else:
                groups.append([start + row])
                fresh.append(row)
        leaders.extend(start + row for row in fresh)
    return groups
