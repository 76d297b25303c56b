"""One streamed answer of OpenAI's routes, and llama.cpp's, read to its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from preheat.engines.counts import understanding
from preheat.errors import EngineFailed, EngineGarbage


@dataclass
class StreamReading:
    """What a stream has said so far. Only chunks that carry generated content count as tokens' times."""

    token_times_ms: list[float] = field(default_factory=list)
    last_ms: float = 0.0
    finish_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)

    def take(self, elapsed_ms: float, event: Any) -> None:
        """One event. Raises ``TypeError``, ``AttributeError`` or ``KeyError`` for what is not the protocol."""
        self.last_ms = elapsed_ms
        self.usage = _object(event.get("usage")) or self.usage
        self.timings = _object(event.get("timings")) or self.timings
        for choice in event["choices"]:
            reason = choice.get("finish_reason")
            if not isinstance(reason, str | None):
                raise TypeError("finish_reason")
            self.finish_reason = reason or self.finish_reason
            if _generated(choice):
                self.token_times_ms.append(elapsed_ms)


async def read_stream(events: AsyncGenerator[tuple[float, Any]], where: str, max_tokens: int) -> StreamReading:
    """Read a stream to its end, and close it.

    Raises :class:`EngineFailed` where it ends before the engine said that it was finished, and
    :class:`EngineGarbage` for events that are not the protocol or never end.
    """
    reading, most = StreamReading(), 4 * max_tokens + 64
    async with aclosing(events):
        async for elapsed_ms, event in events:
            with understanding(where, "streamed events that are not the protocol"):
                reading.take(elapsed_ms, event)
            if len(reading.token_times_ms) > most:
                raise EngineGarbage(
                    f"{where} does not stop at max_tokens: more than {most} pieces for {max_tokens} tokens",
                    "use an engine, or a gateway, that honours max_tokens",
                )
    if reading.finish_reason is None:
        raise EngineFailed(f"{where} closed the stream half-way", "see the engine's own log")
    return reading


def cached_of(usage: dict[str, Any]) -> Any:
    """``usage.prompt_tokens_details.cached_tokens`` as it was sent; ``None`` where the reply does not carry it."""
    details = usage.get("prompt_tokens_details")
    return details.get("cached_tokens") if isinstance(details, dict) else None


def _object(value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise TypeError("not an object")
    return value or {}


def _generated(choice: dict[str, Any]) -> bool:
    if choice.get("text"):
        return True
    delta = choice.get("delta") or {}
    return any(delta.get(name) for name in ("content", "reasoning_content", "reasoning", "tool_calls"))
