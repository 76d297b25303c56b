"""Progress and remarks on stderr: bars on a terminal, plain lines when asked for, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from preheat.cli.streams import remark

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

T = TypeVar("T")
_PLAIN_EVERY_S = 5.0


class Reporter:
    """``progress(stage, done, total)`` and ``say(line)``; use it as a context manager."""

    def __init__(self, mode: str = "auto", quiet: bool = False) -> None:
        if quiet:
            mode = "none"
        elif mode == "auto":
            mode = "bar" if sys.stderr.isatty() else "none"
        self.mode = mode
        self.lines: list[str] = []
        self._bars: RichProgress | None = None
        self._tasks: dict[str, Any] = {}
        self._last_s: dict[str, float] = {}
        self._began_s = time.monotonic()

    def __enter__(self) -> Reporter:
        if self.mode == "bar":
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bars = Progress(*columns, console=Console(stderr=True))
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def progress(self, stage: str, done: int, total: int) -> None:
        """Called as often as one likes; ``total`` 0 where it is not known."""
        if self._bars is not None:
            if stage not in self._tasks:
                self._tasks[stage] = self._bars.add_task(stage, total=total or None)
            self._bars.update(self._tasks[stage], completed=done, total=total or None)
        elif self.mode == "plain":
            now_s = time.monotonic()
            if now_s - self._last_s.get(stage, 0.0) >= _PLAIN_EVERY_S or (total and done == total):
                if self._last_s.get(stage) == float("inf"):
                    return
                self._last_s[stage] = float("inf") if total and done == total else now_s
                self._line(f"{stage} {done}/{total}" if total else f"{stage} {done}")

    def watched(self, stage: str, things: Iterable[T]) -> Iterator[T]:
        """``things``, their number shown as they pass."""
        for number, thing in enumerate(things):
            if number % 2_000 == 0:
                self.progress(stage, number, 0)
            yield thing

    def say(self, line: str) -> None:
        """A remark that the user should see."""
        from preheat.prompts.redaction import redact

        line = redact(line)
        self.lines.append(line)
        if self.mode == "bar" and self._bars is not None:
            self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)
        elif self.mode == "plain":
            self._line(line)

    def _line(self, text: str) -> None:
        remark(f"[{time.monotonic() - self._began_s:6.1f} s] {text}")
