"""One request of a production log, as far as the log tells it. What a source does not say is ``None``."""

from __future__ import annotations

from typing import Any

import msgspec


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One chat message in OpenAI's shape. ``content`` may be text, a list of typed parts, or absent."""

    role: str
    content: str | list[Any] | None = None
    name: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


class Request(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A request: chat (``messages``, ``tools``) or completion (``prompt``), never both.

    ``time_s`` is seconds in the log's own clock (epoch seconds, or seconds from the log's start);
    ``max_tokens`` is the caller's limit, ``output_tokens`` what was really generated;
    ``source`` is ``FILE:LINE``, for messages to the user.
    """

    id: str
    time_s: float | None = None
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    tools: list[Any] | None = None
    model: str | None = None
    adapter: str | None = None
    tenant: str | None = None
    session: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    source: str = ""


class ReadReport(msgspec.Struct, kw_only=True):
    """What a reader saw: counts, and why anything was left out. Filled while requests are read.

    ``skipped`` counts by reason; ``quarantine`` names up to 100 of the lines left out, as
    ``(FILE:LINE, reason)``; the first and last request times are in the log's own clock.
    """

    files: int = 0
    formats: dict[str, int] = {}
    lines: int = 0
    requests: int = 0
    bytes: int = 0
    skipped: dict[str, int] = {}
    quarantine: list[tuple[str, str]] = []
    first_s: float | None = None
    last_s: float | None = None

    def skip(self, where: str, reason: str) -> None:
        """Count one left-out line or record under ``reason``."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        if len(self.quarantine) < 100:
            self.quarantine.append((where, reason))
