"""The protocol of an eviction policy, and the table of policies.

All policies give up a prefix's end before its beginning: a block whose parent is gone can never be found again. So
only runs that no resident run continues stand for choice, and they are shortened from their ends. A run has one rank:
blocks of it that were given up and come back stand where the run stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from preheat.blocks.policies.fifo import Fifo
from preheat.blocks.policies.lfu import Lfu
from preheat.blocks.policies.lru import Lru
from preheat.blocks.policies.lru_k import LruK
from preheat.blocks.policies.optimal import Optimal
from preheat.blocks.policies.sieve import Sieve
from preheat.blocks.runs import Runs


class Policy(Protocol):
    """Told of every run that a request asks for; asked which run is to go."""

    bypasses: bool
    """Whether what a request has just computed may be given up at once. An engine never does that."""

    def asked(self, run: int, at: int, request: int, resident: int) -> None:
        """``run`` is asked for by ``request``, at place ``at`` of all accesses; ``resident`` blocks of it are there."""
        ...

    def rank(self, run: int) -> int:
        """The resident run with the smallest goes first."""
        ...

    def spared(self, run: int) -> bool:
        """It is the turn of ``run``. True: it stays this time, with a new rank."""
        ...


POLICIES: dict[str, Callable[[Runs], Policy]] = {
    "lru": Lru,
    "fifo": Fifo,
    "lfu": Lfu,
    "lru-2": LruK,
    "sieve": Sieve,
    "optimal": Optimal,
}
"""By the name that ``--policy`` takes."""
