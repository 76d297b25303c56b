"""First in, first out."""

from __future__ import annotations

from preheat.blocks.runs import Runs


class Fifo:
    """Ranks by the request that computed the run, or the part of it that was missing."""

    bypasses = False

    def __init__(self, runs: Runs) -> None:
        self._sizes = runs.blocks.tolist()
        self._came = [-1] * len(self._sizes)

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        if resident < self._sizes[run]:
            self._came[run] = request

    def rank(self, run: int) -> int:
        return self._came[run]

    def spared(self, run: int) -> bool:
        return False
