"""Small recorded traffic for replays: requests with times, and a sandbox that notes when each one came."""

from __future__ import annotations

import random
from typing import Any

from preheat.engines.engine import Generation
from preheat.records.request import Message, Request
from preheat.replay.pace import Load
from preheat.sandbox.inprocess import InProcessEngine
from preheat.sandbox.settings import SandboxSettings

WORDS = ["river", "stone", "window", "paper", "garden", "winter", "orange", "table", "letter", "morning", "silver"]


def words(name: str, chars: int) -> str:
    chooser = random.Random(name)
    return (name + " " + " ".join(chooser.choice(WORDS) for _ in range(chars // 4)))[:chars]


def chat(name: str, time_s: float, *, system: str = "You are terse.", chars: int = 200, **more: Any) -> Request:
    messages = (Message(role="system", content=system), Message(role="user", content=words(name, chars)))
    return Request(id=name, time_s=time_s, messages=messages, **more)


def load(time_s: float, tokens: int = 100, name: str = "") -> Load:
    name = name or f"load {time_s}"
    return Load(chat(name, time_s), words(name, tokens * 4), tokens)


class Noting(InProcessEngine):
    """Notes the moment of each request, and how many ran at once."""

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        super().__init__(settings)
        self.came_s: list[float] = []
        self.most_at_once = self._at_once = 0

    async def generate(self, request: Request, **more: Any) -> Generation:
        self.came_s.append(self.core.clock.now_s())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await super().generate(request, **more)
        finally:
            self._at_once -= 1
