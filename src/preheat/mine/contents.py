"""What is put into one template's place: documents asked about again and again, or passages that come once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from preheat.mine.places import Places

MANY = 8
"""Prompts from which a head is one that comes back."""
_VALLEY, _SIDE = 0.05, 0.1
"""Contents are of two sorts, by how often they come back, where so little lies between, and so much on either side."""


def recurring(place: int, contents: Sequence[int], found: Places) -> list[int]:
    """Those contents that come back far more often than the others do, where there are clearly two sorts of them.

    By how many different continuations each has of its own, in logarithms, weighted by requests.
    """
    own = {content: found.leaves[content] for content in contents}
    mass = {content: found.count[content] for content in contents}
    for content in contents:
        above = found.up[content]
        while above != place and above not in own:
            above = found.up[above]
        if above != place:
            own[above] -= found.leaves[content]
            mass[above] -= found.count[content]
    values = np.log2([*(max(1, own[content]) for content in contents), 1])
    weights = np.array([*(max(0, mass[content]) for content in contents), 0], float)
    weights[-1] = max(0.0, found.count[place] - weights.sum())
    cut = _cut(values, weights)
    return [content for content, value in zip(contents, values, strict=False) if value >= cut]


def _cut(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The value from which the upper of two separate groups begins; infinite where there are none.

    Separate: some stretch of length 1 (a factor of two, in logarithms) holds next to nothing, and each side of it a
    tenth or more of the weight.
    """
    total, best, where = float(weights.sum()), _VALLEY, math.inf
    for cut in np.arange(math.log2(MANY) - 0.5, float(values.max()), 0.25):
        valley = float(weights[abs(values - cut) < 0.5].sum()) / total
        upper = float(weights[values >= cut + 0.5].sum()) / total
        lower = float(weights[values <= cut - 0.5].sum()) / total
        if valley < best and min(upper, lower) >= _SIDE:
            best, where = valley, float(cut)
    return where
