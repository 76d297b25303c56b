"""LRU-K with K = 2 (O'Neil, O'Neil and Weikum 1993), the article's choice for the KV level (spec 2.3)."""

from __future__ import annotations

from preheat.blocks.runs import Runs


class LruK:
    """Ranks by the last request but one; runs asked for once go first, the oldest of them before the others.

    Uses are remembered after a run has gone, as the paper's retained history without end.
    """

    bypasses = False

    def __init__(self, runs: Runs) -> None:
        self._requests = len(runs.starts)
        self._last = [-1] * len(runs.blocks)
        self._before = [-1] * len(runs.blocks)

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        self._before[run], self._last[run] = self._last[run], request

    def rank(self, run: int) -> int:
        return self._before[run] * self._requests + self._last[run]

    def spared(self, run: int) -> bool:
        return False
