"""One streamed answer of OpenAI's routes, and llama.cpp's, as a :class:`Generation`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from preheat.engines.engine import Generation
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
        self.usage = event.get("usage") or self.usage
        self.timings = event.get("timings") or self.timings
        for choice in event["choices"]:
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            if _generated(choice):
                self.token_times_ms.append(elapsed_ms)


async def read_stream(events: AsyncIterator[tuple[float, Any]], where: str) -> StreamReading:
    """Read a stream to its end.

    Raises :class:`EngineFailed` where it ends before the engine said that it was finished, and
    :class:`EngineGarbage` for events that are not the protocol.
    """
    reading = StreamReading()
    async for elapsed_ms, event in events:
        try:
            reading.take(elapsed_ms, event)
        except (TypeError, AttributeError, KeyError) as error:
            raise EngineGarbage(f"{where} streamed events that are not the protocol") from error
    if reading.finish_reason is None:
        raise EngineFailed(f"{where} closed the stream half-way", "see the engine's own log")
    return reading


def generation_of(reading: StreamReading, cached_tokens: int | None) -> Generation:
    """The record of a finished stream. An answer of no tokens has its end as its first token's time."""
    timings, usage = reading.timings, reading.usage
    times = reading.token_times_ms
    return Generation(
        ttft_ms=times[0] if times else reading.last_ms,
        total_ms=reading.last_ms,
        token_times_ms=times,
        output_tokens=usage.get("completion_tokens", len(times)),
        prompt_tokens=usage.get("prompt_tokens"),
        cached_tokens=cached_tokens,
        prompt_ms=timings.get("prompt_ms"),
        decode_ms=timings.get("predicted_ms"),
        finish_reason=reading.finish_reason,
    )


def cached_of(usage: dict[str, Any]) -> int | None:
    """``usage.prompt_tokens_details.cached_tokens``; ``None`` where the reply does not carry it."""
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return cached if isinstance(cached, int) else None


def _generated(choice: dict[str, Any]) -> bool:
    if choice.get("text"):
        return True
    delta = choice.get("delta") or {}
    return any(delta.get(name) for name in ("content", "reasoning_content", "reasoning", "tool_calls"))
