"""Least recently used: what vLLM does, and SGLang by default."""

from __future__ import annotations

from preheat.blocks.runs import Runs


class Lru:
    """Ranks by the latest request. :mod:`preheat.blocks.distances` gives the same at all sizes at once."""

    bypasses = False

    def __init__(self, runs: Runs) -> None:
        self._last = [-1] * len(runs.blocks)

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        self._last[run] = request

    def rank(self, run: int) -> int:
        return self._last[run]

    def spared(self, run: int) -> bool:
        return False
