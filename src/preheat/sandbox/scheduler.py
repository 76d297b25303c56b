"""Who may run, and who computes: the sandbox's waiting line and its one compute unit, both first come first served."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from preheat.clock import Clock
from preheat.errors import EngineOverloaded
from preheat.sandbox.cache import Lease, PrefixCache


@dataclass(frozen=True, eq=False)
class _Waiting:
    chain: Sequence[bytes]
    prompt_tokens: int
    total_tokens: int
    admitted: asyncio.Future[Lease]


class Scheduler:
    """Admits requests while there is a place and there are blocks; the cache is looked up at admission."""

    def __init__(self, cache: PrefixCache, max_running: int, queue_limit: int | None) -> None:
        self.running = 0
        self._cache = cache
        self._max_running = max_running
        self._queue_limit = queue_limit
        self._line: deque[_Waiting] = deque()

    @property
    def waiting(self) -> int:
        """Requests in the line."""
        return len(self._line)

    async def admit(self, chain: Sequence[bytes], prompt_tokens: int, total_tokens: int) -> tuple[Lease, bool]:
        """Wait for a place and hold the blocks; and whether it had to wait.

        Raises :class:`EngineOverloaded` where the line is full.
        """
        me = _Waiting(chain, prompt_tokens, total_tokens, asyncio.get_running_loop().create_future())
        self._line.append(me)
        self._admit_from_line()
        if me.admitted.done():
            return me.admitted.result(), False
        if self._queue_limit is not None and len(self._line) > self._queue_limit:
            self._line.remove(me)
            raise EngineOverloaded(f"{self._queue_limit} requests are waiting already", "retry later")
        try:
            return await me.admitted, True
        except asyncio.CancelledError:
            if me.admitted.done() and not me.admitted.cancelled():
                self.leave(me.admitted.result())
            elif me in self._line:
                self._line.remove(me)
                self._admit_from_line()
            raise

    def leave(self, lease: Lease) -> None:
        """A request ended: its place and blocks go to the next in line. Safe to call twice."""
        if lease.open:
            self._cache.release(lease)
            self.running -= 1
            self._admit_from_line()

    def _admit_from_line(self) -> None:
        while self._line and self.running < self._max_running:
            first = self._line[0]
            if first.admitted.done():  # cancelled in this very turn of the loop
                self._line.popleft()
                continue
            lease = self._cache.acquire(first.chain, first.prompt_tokens, first.total_tokens)
            if lease is None:
                return
            self._line.popleft()
            self.running += 1
            first.admitted.set_result(lease)


class ComputeUnit:
    """Prefills one prompt at a time, on a schedule of deadlines.

    Work starts when it was ready or when the work before it was due to end, not when the event loop came round to it,
    so that lateness does not add up.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._busy = False
        self._due_s = 0.0
        self._line: deque[asyncio.Future[None]] = deque()

    async def work(self, seconds: float, ready_s: float) -> float:
        """Occupy the unit for that long; the moment at which the work was due to end, in clock seconds."""
        await self._turn()
        start_s = min(self._clock.now_s(), max(ready_s, self._due_s))
        self._due_s = start_s + seconds
        try:
            await self._clock.sleep(self._due_s - self._clock.now_s())
        except asyncio.CancelledError:
            self._due_s = self._clock.now_s()
            raise
        else:
            return self._due_s
        finally:
            self._pass_on()

    async def _turn(self) -> None:
        if not self._busy:
            self._busy = True
            return
        me: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(me)
        try:
            await me
        except asyncio.CancelledError:
            if me.done() and not me.cancelled():
                self._pass_on()
            elif me in self._line:
                self._line.remove(me)
            raise

    def _pass_on(self) -> None:
        while self._line:
            following = self._line.popleft()
            if not following.done():
                following.set_result(None)
                return
        self._busy = False
