"""What a prefix cache of a given size would have found of a log's blocks, by policy.

A request finds the blocks at its beginning that are resident *when it comes*; then all its blocks are, as far as the
cache goes (the end of a prompt that is larger than the cache is not kept), and others had to leave for them. Requests
come one after another; nothing else takes room.
"""

from __future__ import annotations

import heapq

import numpy as np

from preheat.blocks.accesses import Ids
from preheat.blocks.distances import stack_depths
from preheat.blocks.policies.policy import POLICIES, Policy
from preheat.blocks.runs import Runs


class Simulator:
    """Found blocks by request, for any policy and size. LRU's stack is made once, for all sizes."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._depths: Ids | None = None

    def found(self, policy: str, capacity: int) -> Ids:
        """Blocks found by each request in a cache of ``capacity`` blocks. ``policy`` is a key of ``POLICIES``."""
        if policy == "lru":
            return self._lru(capacity)
        return replay(self.runs, capacity, POLICIES[policy](self.runs))

    def ceiling(self) -> Ids:
        """Blocks found by each request in a cache without bounds: all but those never seen before (compulsory)."""
        return self._lru(int(self.runs.blocks.sum()))

    def _lru(self, capacity: int) -> Ids:
        runs = self.runs
        if self._depths is None:
            self._depths = stack_depths(runs)
        depths, sizes = self._depths, runs.blocks[runs.runs]
        blocks = np.where(depths < 0, 0, np.clip(capacity - depths, 0, sizes))
        sums = np.concatenate(([0], np.cumsum(blocks)))
        found: Ids = sums[runs.starts[1:]] - sums[runs.starts[:-1]]
        return found


def replay(runs: Runs, capacity: int, policy: Policy) -> Ids:
    """Blocks found by each request, by playing the log through one cache."""
    cache = _Cache(runs, capacity, policy)
    flat, starts = runs.runs.tolist(), runs.starts.tolist()
    found = np.zeros(len(starts) - 1, np.int64)
    for request in range(len(starts) - 1):
        begin = starts[request]
        found[request] = cache.ask(flat[begin : starts[request + 1]], begin, request)
    return found


class _Cache:
    """Resident runs. A run is resident only where its parent wholly is."""

    def __init__(self, runs: Runs, capacity: int, policy: Policy) -> None:
        self.capacity = capacity
        self.policy = policy
        self._sizes: list[int] = runs.blocks.tolist()
        self._parents: list[int] = runs.parents.tolist()
        self._resident = [0] * len(self._sizes)
        self._continued = [0] * len(self._sizes)
        self._held = [-1] * len(self._sizes)
        self._used = 0
        self._ends: list[tuple[int, int]] = []

    def ask(self, chain: list[int], begin: int, request: int) -> int:
        """One request for the runs of ``chain``; how many of their blocks were there."""
        resident, sizes, policy = self._resident, self._sizes, self.policy
        found = asked = 0
        for run in chain:
            found += resident[run]
            asked += sizes[run]
            self._held[run] = request
        missing = asked - found
        if not policy.bypasses:
            missing = min(missing, self.capacity - found)
            self._evict(self._used + missing - self.capacity, request)
        self._used += missing
        deepest = -1
        for at, run in enumerate(chain, begin):
            there = resident[run]
            policy.asked(run, at, request, there)
            if there < sizes[run] and missing:
                come = min(missing, sizes[run] - there)
                missing -= come
                resident[run] += come
                if not there and self._parents[run] >= 0:
                    self._continued[self._parents[run]] += 1
            if resident[run]:
                deepest = run
        if deepest >= 0 and not self._continued[deepest]:
            heapq.heappush(self._ends, (policy.rank(deepest), deepest))
        if policy.bypasses:
            self._evict(self._used - self.capacity, -1)
        return found

    def _evict(self, blocks: int, request: int) -> None:
        """Give up ``blocks`` blocks, none of them held by ``request``."""
        ends, rank = self._ends, self.policy.rank
        kept: list[tuple[int, int]] = []
        while blocks > 0:
            entry = heapq.heappop(ends)
            run = entry[1]
            if not self._resident[run] or self._continued[run] or entry[0] != rank(run):
                continue  # no end any more, or ranked anew since
            if self._held[run] == request:
                kept.append(entry)
            elif self.policy.spared(run):
                heapq.heappush(ends, (rank(run), run))
            else:
                gone = min(blocks, self._resident[run])
                blocks -= gone
                self._drop(run, gone)
        for entry in kept:
            heapq.heappush(ends, entry)

    def _drop(self, run: int, blocks: int) -> None:
        self._used -= blocks
        self._resident[run] -= blocks
        if self._resident[run]:
            heapq.heappush(self._ends, (self.policy.rank(run), run))
            return
        parent = self._parents[run]
        if parent >= 0:
            self._continued[parent] -= 1
            if not self._continued[parent]:
                heapq.heappush(self._ends, (self.policy.rank(parent), parent))
