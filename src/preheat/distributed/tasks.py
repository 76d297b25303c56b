"""Tasks on machines that come and go: so many at once and no more, and each tried again when its worker is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from preheat.distributed.work import Job, merge_packed, perform, request_of
from preheat.errors import EngineFailed

Then = Callable[[Any], None]


class Lost(Exception):
    """A task came to no result, and not by its own doing: its process was killed, or its node is gone."""


class Executor(Protocol):
    """Runs functions elsewhere. A handle is whatever it likes, as long as it is hashable."""

    def slots(self) -> int:
        """How many tasks it is worth having given out."""
        ...

    def start(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Begin, and give the handle. What is lost is not tried again."""
        ...

    def wait(self, handles: Sequence[Any]) -> Sequence[Any]:
        """Those that have ended, by and by; none after some seconds. Raises where no task can ever end."""
        ...

    def result(self, handle: Any) -> Any:
        """What an ended task gave, or raises what it raised; :class:`Lost` where it could not end."""
        ...

    def cancel(self, handle: Any) -> None: ...


class _Task(NamedTuple):
    named: str
    then: Then
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    attempt: int = 1


class Tasks:
    """Use it as a context manager: what still runs at its end is cancelled.

    Whatever a task needs is sent by this process and stays here until its result has arrived here, so that no other
    machine holds the only copy of anything.
    """

    def __init__(self, executor: Executor, in_flight: int, attempts: int) -> None:
        self._executor, self._in_flight, self._attempts = executor, in_flight, attempts
        self._running: dict[Any, _Task] = {}

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._running:
            self._executor.cancel(handle)

    def submit(self, named: str, then: Then, function: Callable[..., Any], *arguments: Any) -> None:
        """Run ``function(*arguments)`` elsewhere and call ``then`` with its result here; waits for room first.

        ``named`` is what messages call it. From here and :meth:`finish` come the exceptions of any task, and
        :class:`EngineFailed` for one whose worker was lost at every attempt.
        """
        while len(self._running) >= max(1, min(self._in_flight, self._executor.slots())):
            self._take()
        self._start(_Task(named, then, function, arguments))

    def finish(self) -> None:
        """Wait for all, those too that their results lead to."""
        while self._running:
            self._take()

    def _start(self, task: _Task) -> None:
        self._running[self._executor.start(task.function, *task.arguments)] = task

    def _take(self) -> None:
        for handle in self._executor.wait(list(self._running)):
            task = self._running.pop(handle, None)
            if task is None:  # taken meanwhile, by what a result led to
                continue
            try:
                result = self._executor.result(handle)
            except Lost as loss:
                if task.attempt >= self._attempts:
                    raise EngineFailed(
                        f"the worker was lost {task.attempt} times while it was at {task.named}: {loss}",
                        "see the cluster's log and its memory; leave those lines out, or mine on this machine",
                    ) from loss
                self._start(task._replace(attempt=task.attempt + 1))
            else:
                task.then(result)


class MergeTree:
    """Packed profiles, merged by tasks as soon as ``fan_in`` of one level are there; one of the next level results."""

    def __init__(self, tasks: Tasks, job: Job, fan_in: int) -> None:
        self._tasks, self._job, self._fan_in = tasks, job, fan_in
        self._levels: list[list[bytes]] = []

    def add(self, packed: bytes, level: int = 0) -> None:
        while level >= len(self._levels):
            self._levels.append([])
        row = self._levels[level]
        row.append(packed)
        if len(row) == self._fan_in:
            self._levels[level] = []
            self._merge(row, level + 1)

    def rest(self) -> list[bytes]:
        """The last ones, ``fan_in`` at most; waits for all tasks."""
        self._tasks.finish()
        while len(left := [each for row in self._levels for each in row]) > self._fan_in:
            self._levels = [left[self._fan_in :]]
            self._merge(left[: self._fan_in], 0)
            self._tasks.finish()
        return left

    def _merge(self, row: list[bytes], level: int) -> None:
        named = f"a merge of {len(row)} profiles"
        self._tasks.submit(
            named, lambda merged: self.add(merged, level), perform, *request_of(merge_packed, row, self._job)
        )
