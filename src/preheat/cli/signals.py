"""Signals: the first one ends the work in good order; a second one, or what is stuck, ends the process."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

from preheat.cli.ending import SAVED, end_now

_GRACE_S = 5.0
_STUCK_S = 10.0
_AT_ONCE_S = 0.3


class Signals:
    """SIGINT and SIGTERM set ``stop``. What has not ended 5 s later is cancelled, what is stuck 10 s later is left.

    A second signal cancels at once, and leaves what does not heed that.
    """

    def __init__(self) -> None:
        self._timers: list[threading.Timer] = []
        self._came = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Future[Any] | None = None
        self.stop = asyncio.Event()

    def watch(self, task: asyncio.Future[Any]) -> None:
        """What signals end from now on; called within its loop."""
        self._loop, self._task = asyncio.get_running_loop(), task
        if self._came:
            self._first()

    def __enter__(self) -> Signals:
        numbers = (signal.SIGINT, signal.SIGTERM)
        self._before = {number: signal.getsignal(number) for number in numbers}
        for number in numbers:
            signal.signal(number, self._arrived)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for timer in self._timers:
            timer.cancel()

    def _arrived(self, number: int, frame: object) -> None:
        """Python's own handler and no loop's: it also comes where the loop is busy or is waiting for its threads."""
        self._came += 1
        self._leave_after(_STUCK_S if self._came == 1 else _AT_ONCE_S)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._first if self._came == 1 else self._cancel)

    def _first(self) -> None:
        self.stop.set()
        if self._loop is not None:
            self._loop.call_later(_GRACE_S, self._cancel)

    def _cancel(self) -> None:
        self.stop.set()
        if self._task is not None:
            self._task.cancel()

    def _leave_after(self, seconds: float) -> None:
        timer = threading.Timer(seconds, end_now, (str(SAVED),))
        timer.daemon = True
        timer.start()
        self._timers.append(timer)
