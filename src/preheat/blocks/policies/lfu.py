"""Least frequently used since it came in, as SGLang's ``lfu``."""

from __future__ import annotations

from preheat.blocks.runs import Runs


class Lfu:
    """Ranks by the number of requests since the run came in; among equals the one not asked for longest goes."""

    bypasses = False

    def __init__(self, runs: Runs) -> None:
        self._requests = len(runs.starts)
        self._asked = [0] * len(runs.blocks)
        self._last = [0] * len(runs.blocks)

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        self._asked[run] = self._asked[run] + 1 if resident else 1
        self._last[run] = request

    def rank(self, run: int) -> int:
        return self._asked[run] * self._requests + self._last[run]

    def spared(self, run: int) -> bool:
        return False
