"""OpenAI-style logs: one request a line, bare, in a batch file, or in an envelope with time, tenant and session.

``{"messages", "tools", "model", ...}``, ``{"prompt", ...}``, ``{"custom_id", "method", "url", "body"}``,
``{"request_id", "timestamp", "tenant", "session_id", "messages", "tools"}``, calls of the Responses API (``input``,
``instructions``, ``previous_response_id``), and any envelope that has the request's body under ``body``, ``request``,
``request_body``, ``params`` or ``payload``, as an object or as JSON text. Nearly every line is decoded straight into
:class:`_Line`; only what does not fit its types is taken apart by :mod:`preheat.read.openai_odd`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from preheat.read import openai_odd
from preheat.read.content import only_text
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.parameters import SAMPLING
from preheat.read.scalars import Count
from preheat.read.times import first_time
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
    parent_id: str | None = None
    turn: Count | None = None
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
    system: Any = None
    functions: Any = None
    body: Any = None
    request: Any = None


_SampledLine: type[Any] = msgspec.defstruct("_SampledLine", [(name, Any, None) for name in SAMPLING], bases=(_Line,))
_line = msgspec.json.Decoder(_SampledLine)
_FIRST_SAMPLING = len(_Line.__struct_fields__)
_MAY_HOLD_A_PICTURE = 16 << 10
"""Bytes of a record from which on plain text in it is searched for inline data; parts that are no text always are."""
_NO_SAMPLING = (None,) * len(SAMPLING)


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
            return openai_odd.requests(record, where, report)
        if not _usual(line) or (len(record) >= _MAY_HOLD_A_PICTURE and b";base64," in record):
            return openai_odd.requests(record, where, report)
        return (_request(line, where, report),)


def _usual(line: Any) -> bool:
    """Whether nothing in the line needs more than its types say: nothing wrapped, no media, no other API's tools."""
    messages, tools = line.messages, line.tools
    if not messages:
        if line.prompt is None or line.body or line.request:
            return False
    else:
        for message in messages:
            content = message.content
            if content.__class__ is list and not only_text(content):
                return False
    return not (line.system or line.functions) and (
        not tools or all(type(tool) is dict and "function" in tool for tool in tools)
    )


def _request(line: Any, where: str, report: ReadReport) -> Request:
    chat = bool(line.messages)
    usage = line.usage
    metadata = line.metadata or {}
    sampling = msgspec.structs.astuple(line)[_FIRST_SAMPLING:]
    return Request(
        id=line.request_id or line.custom_id or line.id or where,
        time_s=first_time((line.timestamp, line.time, line.created, line.created_at), report),
        messages=line.messages or (),
        prompt=None if chat else line.prompt,
        tools=line.tools or None,
        model=line.model,
        adapter=line.adapter or line.lora or line.lora_name,
        tenant=line.tenant or line.tenant_id or openai_odd.tenant_in(metadata) or line.user,
        session=line.session_id or line.conversation_id or openai_odd.session_in(metadata),
        parent=line.parent_id,
        turn=line.turn,
        temperature=line.temperature,
        sampling=None if sampling == _NO_SAMPLING else _said(sampling),
        max_tokens=line.max_tokens if line.max_tokens is not None else line.max_completion_tokens,
        input_tokens=line.input_tokens if usage is None else _either(usage.prompt_tokens, usage.input_tokens),
        output_tokens=line.output_tokens if usage is None else _either(usage.completion_tokens, usage.output_tokens),
        source=where,
    )


def _said(sampling: tuple[Any, ...]) -> dict[str, Any]:
    return {name: value for name, value in zip(SAMPLING, sampling, strict=True) if value is not None}


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
