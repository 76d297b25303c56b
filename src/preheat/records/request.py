"""One request of a production log, as far as the log tells it. What a source does not say is ``None``."""

from __future__ import annotations

from typing import Any

import msgspec


class Message(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One chat message in OpenAI's shape. ``content`` may be text, a list of typed parts, or absent."""

    role: str
    content: str | list[Any] | None = None
    name: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


class Request(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A request: chat (``messages``, ``tools``), completion (``prompt``) or ids of prefix blocks, never two of them.

    A trace without text has ``blocks``, one id for every ``block_tokens`` tokens (the last may stand for fewer), an
    id standing for its block *and all before it*; or nothing but arrival and lengths. ``time_s`` is seconds in the
    log's own clock (epoch seconds, or seconds from the log's start); ``max_tokens`` is the caller's limit,
    ``output_tokens`` what was really generated; ``sampling`` holds the other parameters as the log names them
    (``top_p``, ``seed``, ``stop``, ``response_format``, ``tool_choice``...). ``parent`` is the id of the request (or
    span) that this one follows in its ``session``, ``turn`` its place there, from 0 or as the log counts.
    ``truncated``: the log itself cut the prompt, so it is known only up to there. ``source`` is ``FILE:LINE``,
    for messages to the user.
    """

    id: str
    time_s: float | None = None
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    tools: list[Any] | None = None
    blocks: tuple[int, ...] | None = None
    block_tokens: int | None = None
    truncated: bool = False
    model: str | None = None
    adapter: str | None = None
    tenant: str | None = None
    session: str | None = None
    parent: str | None = None
    turn: int | None = None
    temperature: float | None = None
    sampling: dict[str, Any] | None = None
    max_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    source: str = ""


class ReadReport(msgspec.Struct, kw_only=True):
    """What a reader saw: counts, and why anything was left out. Filled while requests are read.

    ``skipped`` counts by reason; ``quarantine`` names up to 100 of the lines left out, as
    ``(FILE:LINE, reason)``; the first and last request times are in the log's own clock. ``noted`` counts what was
    read all the same, yet is odd (times that go back, an id that came before). ``time_units`` counts how times are
    written (``s``, ``ms``, ``us``, ``ns``, ``ISO 8601``), as far as the format leaves it open. Of the requests,
    ``without_text`` have neither messages nor a prompt (a trace), and of ``truncated`` ones the log cut the prompt.
    """

    files: int = 0
    formats: dict[str, int] = {}
    lines: int = 0
    requests: int = 0
    without_text: int = 0
    truncated: int = 0
    bytes: int = 0
    skipped: dict[str, int] = {}
    quarantine: list[tuple[str, str]] = []
    noted: dict[str, int] = {}
    time_units: dict[str, int] = {}
    first_s: float | None = None
    last_s: float | None = None

    def skip(self, where: str, reason: str, *, first: bool = False) -> None:
        """Count one left-out line or record under ``reason``; named before all others where it is to come ``first``."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        if first:
            self.quarantine[:] = [(where, reason), *self.quarantine[:99]]
        elif len(self.quarantine) < 100:
            self.quarantine.append((where, reason))

    def note(self, what: str) -> None:
        """Count one thing that is odd, and was read."""
        self.noted[what] = self.noted.get(what, 0) + 1

    def add(self, later: ReadReport) -> None:
        """Count in what was read after this, or apart from it."""
        for name in ("files", "lines", "requests", "without_text", "truncated", "bytes"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name in ("formats", "skipped", "noted", "time_units"):
            counts = getattr(self, name)
            for what, count in getattr(later, name).items():
                counts[what] = counts.get(what, 0) + count
        self.quarantine += later.quarantine[: 100 - len(self.quarantine)]
        times = [each for each in (self.first_s, later.first_s) if each is not None]
        self.first_s = min(times, default=None)
        times = [each for each in (self.last_s, later.last_s) if each is not None]
        self.last_s = max(times, default=None)
