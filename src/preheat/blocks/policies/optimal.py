"""Belady's optimum: no policy can find more blocks in a cache of this size (Belady 1966; Mattson and others 1970)."""

from __future__ import annotations

import numpy as np

from preheat.blocks.runs import Runs, request_of


class Optimal:
    """What is asked for again last, or never, goes first; what was just computed need not be kept (bypass).

    Keeping a block from one request to the next that asks for it is an interval that takes one place; of intervals
    that are too many at a time, giving up those that end last leaves the most (Carlisle and Lloyd 1995). A prefix
    is never asked for later than what continues it, so that this also keeps beginnings before ends, and is the
    optimum under that rule.
    """

    bypasses = True

    def __init__(self, runs: Runs) -> None:
        request = request_of(runs.starts)
        order = np.argsort(runs.runs, kind="stable")
        again = np.flatnonzero(runs.runs[order[1:]] == runs.runs[order[:-1]])
        following = np.full(len(order), len(runs.starts), np.int64)
        following[order[again]] = request[order[again + 1]]
        self._following: list[int] = following.tolist()
        self._next = [0] * len(runs.blocks)

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        self._next[run] = self._following[at]

    def rank(self, run: int) -> int:
        # Of one chain that is asked for again at the same time, the deepest goes first: it has the highest number.
        return -(self._next[run] * len(self._next) + run)

    def spared(self, run: int) -> bool:
        return False
