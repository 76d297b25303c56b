"""OpenAI-style logs: one request a line, bare, in a batch file, or in an envelope with time, tenant and session.

``{"messages", "tools", "model", ...}``, ``{"prompt", ...}``, ``{"custom_id", "method", "url", "body"}``,
``{"request_id", "timestamp", "tenant", "session_id", "messages", "tools"}``, and any envelope that has the
request's body under ``body``, ``request`` or ``request_body``. Nearly every line is decoded straight into
:class:`_Line`; only what does not fit its types is taken apart by :mod:`preheat.read.openai_odd`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from preheat.read import openai_odd
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.scalars import Count
from preheat.read.times import seconds
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

NAME = "openai-jsonl"


class _Usage(msgspec.Struct):
    prompt_tokens: Count | None = None
    input_tokens: Count | None = None
    completion_tokens: Count | None = None
    output_tokens: Count | None = None


class _Line(msgspec.Struct):
    """All that a line may say, in the types that it usually has. Other fields are passed over unread."""

    messages: tuple[Message, ...] | None = None
    prompt: str | None = None
    tools: list[Any] | None = None
    system: msgspec.Raw = msgspec.Raw()
    functions: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()
    body: msgspec.Raw = msgspec.Raw()
    request: msgspec.Raw = msgspec.Raw()
    request_body: msgspec.Raw = msgspec.Raw()
    request_id: str | None = None
    custom_id: str | None = None
    id: str | None = None
    timestamp: float | str | None = None
    time: float | str | None = None
    created: float | str | None = None
    created_at: float | str | None = None
    tenant: str | None = None
    tenant_id: str | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    model: str | None = None
    adapter: str | None = None
    lora: str | None = None
    lora_name: str | None = None
    temperature: float | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    usage: _Usage | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


_line = msgspec.json.Decoder(_Line)


class OpenAIJsonl:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            self.requests(record, "", ReadReport())
        except Unreadable as why:
            return why.message
        return None

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        try:
            line = _line.decode(record)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return openai_odd.requests(record, where)
        messages = line.messages
        if (not messages and line.prompt is None) or line.system or line.functions or (line.body or line.request):
            return openai_odd.requests(record, where)
        return (_request(line, where),)


def _request(line: _Line, where: str) -> Request:
    chat = bool(line.messages)
    usage = line.usage
    metadata = line.metadata or {}
    return Request(
        id=line.request_id or line.custom_id or line.id or where,
        time_s=_first_time(line),
        messages=line.messages or (),
        prompt=None if chat else line.prompt,
        tools=line.tools or None,
        model=line.model,
        adapter=line.adapter or line.lora or line.lora_name,
        tenant=line.tenant or line.tenant_id or openai_odd.tenant_in(metadata) or line.user,
        session=line.session_id or line.conversation_id or openai_odd.session_in(metadata),
        temperature=line.temperature,
        max_tokens=line.max_tokens if line.max_tokens is not None else line.max_completion_tokens,
        input_tokens=line.input_tokens if usage is None else _either(usage.prompt_tokens, usage.input_tokens),
        output_tokens=line.output_tokens if usage is None else _either(usage.completion_tokens, usage.output_tokens),
        source=where,
    )


def _first_time(line: _Line) -> float | None:
    for value in (line.timestamp, line.time, line.created, line.created_at):
        if value is not None:
            time_s = seconds(value)
            if time_s is not None:
                return time_s
    return None


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
