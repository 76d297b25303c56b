"""LRU at every cache size at once, through stack distances (Mattson, Gecsei, Slutz and Traiger 1970).

The stack is the order in which blocks would be given up, latest use on top and, within a request, a block above what
continues it: vLLM frees a request's blocks deepest first. A cache of C blocks holds the topmost C, so a block is found
by every cache that is at least as large as its place in the stack *when its request comes*. Distances are counted for
whole runs, by one stable radix partition of the accesses (no loop over them): O(n log n) in numpy.
"""

from __future__ import annotations

import numpy as np

from preheat.blocks.accesses import Ids
from preheat.blocks.runs import Runs, request_of


def stack_depths(runs: Runs) -> Ids:
    """For each access to a run, how many blocks lie above the run when its request comes; -1 at first sight.

    Block ``j`` (from 1) of a run at depth ``d`` is found in caches of at least ``d + j`` blocks.
    """
    total = len(runs.runs)
    request = request_of(runs.starts)
    # Deepest first, so that what stands later in the sequence lies higher in the stack.
    turned = runs.starts[request] + runs.starts[request + 1] - 1 - np.arange(total)
    sequence = runs.runs[turned]
    weights = runs.blocks[sequence]
    order = np.argsort(sequence, kind="stable")
    again = np.flatnonzero(sequence[order[1:]] == sequence[order[:-1]])
    previous = np.full(total, -1, np.int64)
    previous[order[again + 1]] = order[again]
    upto = np.cumsum(weights)
    begin = runs.starts[request]
    own = upto - weights - np.concatenate(([0], upto))[begin]
    # Of the accesses since the previous one, the first to each run counts: its own previous one lies before that.
    depths = _smaller_before(_ranks(previous), weights) - upto[previous] - own
    depths[previous < 0] = -1
    from_the_start: Ids = depths[turned]
    return from_the_start


def _ranks(previous: Ids) -> Ids:
    """Places in the order of ``previous`` (distinct from 0 on), those of -1 first."""
    order = np.argsort(previous, kind="stable")
    ranks = np.empty(len(previous), np.int64)
    ranks[order] = np.arange(len(previous))
    return ranks


def _smaller_before(ranks: Ids, weights: Ids) -> Ids:
    """For each element of a permutation, the weight of those that stand before it and are smaller.

    Bit by bit from the highest: within a group of equal higher bits, a one has all zeros before it below itself.
    As the values are 0..n-1, the group of values from ``g`` on begins at place ``g``.
    """
    total = len(ranks)
    found = np.zeros(total, np.int64)
    values, places = ranks.copy(), np.arange(total)
    for bit in reversed(range(max(1, total - 1).bit_length())):
        ones = (values >> bit) & 1 == 1
        begins = values >> (bit + 1) << (bit + 1)
        light = np.where(ones, 0, weights[places])
        sums = np.concatenate(([0], np.cumsum(light)))
        at = np.flatnonzero(ones)
        found[places[at]] += sums[at] - sums[begins[at]]
        zeros = np.concatenate(([0], np.cumsum(~ones)))[:-1]
        zeros -= zeros[begins]
        here = np.arange(total) - begins
        target = begins + np.where(ones, (1 << bit) + here - zeros, zeros)
        values_next, places_next = np.empty_like(values), np.empty_like(places)
        values_next[target], places_next[target] = values, places
        values, places = values_next, places_next
    return found
