"""SIEVE (Zhang, Yang, Yue, Vigfusson and Rashmi, NSDI 2024): a queue, a hand, and one bit for each entry."""

from __future__ import annotations

from preheat.blocks.runs import Runs


class Sieve:
    """The hand goes from old to new; what was asked for since its last round stays in place, the bit cleared.

    A rank is the hand's round, then the place in the queue. A run that the hand passed over because others continue
    it goes when the last of them has gone.
    """

    bypasses = False

    def __init__(self, runs: Runs) -> None:
        self._requests = len(runs.starts)
        self._round = 0
        self._rounds = [0] * len(runs.blocks)
        self._came = [-1] * len(runs.blocks)
        self._visited = [False] * len(runs.blocks)

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        self._visited[run] = resident > 0
        if not resident:
            self._rounds[run], self._came[run] = self._round, request

    def rank(self, run: int) -> int:
        return self._rounds[run] * self._requests + self._came[run]

    def spared(self, run: int) -> bool:
        self._round = max(self._round, self._rounds[run])
        spared = self._visited[run]
        if spared:
            self._visited[run] = False
            self._rounds[run] = self._round + 1
        return spared
