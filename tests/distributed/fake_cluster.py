"""A cluster within this process: all that is sent passes through pickle, ends in any order, and may be lost."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any

from preheat.distributed.tasks import Lost
from preheat.errors import PreheatError


class FakeCluster:
    """``lose(function, arguments, begun)``: whether this start of a task, the ``begun``-th of all, is lost."""

    def __init__(
        self, slots: int = 4, seed: int = 0, lose: Callable[[Any, tuple[Any, ...], int], bool] | None = None
    ) -> None:
        self._slots, self._chooser, self._lose = slots, random.Random(seed), lose
        self._begun: dict[int, tuple[Any, tuple[Any, ...]]] = {}
        self.begun = 0
        self.most_at_once = 0
        self.cancelled: list[int] = []

    def slots(self) -> int:
        return self._slots

    def start(self, function: Callable[..., Any], *arguments: Any) -> int:
        self.begun += 1
        self._begun[self.begun] = (function, pickle.loads(pickle.dumps(arguments)))
        self.most_at_once = max(self.most_at_once, len(self._begun))
        return self.begun

    def wait(self, handles: Sequence[int]) -> Sequence[int]:
        assert set(handles) <= self._begun.keys()
        return self._chooser.sample(list(handles), self._chooser.randint(0, len(handles)))

    def result(self, handle: int) -> Any:
        function, arguments = self._begun.pop(handle)
        if self._lose is not None and self._lose(function, arguments, handle):
            raise Lost("WorkerCrashedError: killed")
        try:
            return pickle.loads(pickle.dumps(function(*arguments)))
        except PreheatError as error:
            raise pickle.loads(pickle.dumps(error)) from None

    def cancel(self, handle: int) -> None:
        self.cancelled.append(handle)

    def left(self) -> set[int]:
        """What was begun and has not ended."""
        return set(self._begun)
