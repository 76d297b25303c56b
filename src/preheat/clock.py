"""Time is a parameter: real for engines, virtual for the sandbox and the tests.

``run_virtual`` runs a coroutine on an event loop whose time jumps to the next timer whenever nothing
else is ready, so that an hour of simulated traffic takes milliseconds and is the same on every machine.
It is for coroutines that stay inside the process; with sockets, use real time.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """What code that waits or measures asks for the time. Seconds, monotonic."""

    def now_s(self) -> float:
        """Monotonic time in seconds; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less yields once."""
        ...


class RealClock:
    """The machine's monotonic clock."""

    def now_s(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class LoopClock:
    """The running event loop's time: real on an ordinary loop, virtual inside :func:`run_virtual`."""

    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: reports what is ready, and moves virtual time on by what it was asked to wait."""

    elapsed_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout is None:
            return ready or super().select(0.001)
        self.elapsed_s += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time, starting at 0 s."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.elapsed_s


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` to its end on virtual time and return its result."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
