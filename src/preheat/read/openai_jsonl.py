"""OpenAI-style logs: one request a line, bare, in a batch file, or in an envelope with time, tenant and session.

``{"messages", "tools", "model", ...}``, ``{"prompt", ...}``, ``{"custom_id", "method", "url", "body"}``,
``{"request_id", "timestamp", "tenant", "session_id", "messages", "tools"}``, calls of the Responses API (``input``,
``instructions``, ``previous_response_id``), and any envelope that has the request's body under ``body``, ``request``,
``request_body``, ``params`` or ``payload``, as an object or as JSON text. Nearly every line is decoded straight into
:class:`_Line`; only what does not fit its types is taken apart by :mod:`preheat.read.openai_odd`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypedDict, cast

import msgspec

from preheat.read import openai_odd
from preheat.read.content import only_text
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.messages import openai_tool
from preheat.read.parameters import SAMPLING
from preheat.read.scalars import Count
from preheat.read.times import time_of
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

NAME = "openai-jsonl"


class _Usage(msgspec.Struct):
    prompt_tokens: Count | None = None
    input_tokens: Count | None = None
    completion_tokens: Count | None = None
    output_tokens: Count | None = None


class _Line(TypedDict, total=False):
    """All that a line may say, in the types that it usually has. Other fields are passed over unread."""

    messages: tuple[Message, ...] | None
    prompt: str | None
    tools: list[Any] | None
    request_id: str | None
    custom_id: str | None
    id: str | None
    timestamp: float | str | None
    time: float | str | None
    created: float | str | None
    created_at: float | str | None
    ts: float | str | None
    time_s: float | None
    tenant: str | None
    tenant_id: str | None
    session_id: str | None
    session: str | None
    conversation_id: str | None
    parent_id: str | None
    turn: Count | None
    model: str | None
    adapter: str | None
    lora: str | None
    lora_name: str | None
    temperature: float | None
    max_tokens: Count | None
    max_completion_tokens: Count | None
    usage: _Usage | None
    input_tokens: Count | None
    output_tokens: Count | None
    user: str | None
    metadata: dict[str, Any] | None
    system: Any
    functions: Any
    body: Any
    request: Any


_FIELDS = {
    **dict.fromkeys(("request_id", "custom_id", "id"), "id"),
    **dict.fromkeys(("timestamp", "time", "created", "created_at", "ts", "time_s"), "time_s"),
    **dict.fromkeys(("tenant", "tenant_id"), "tenant"),
    **dict.fromkeys(("session_id", "session", "conversation_id"), "session"),
    **dict.fromkeys(("adapter", "lora", "lora_name"), "adapter"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "max_tokens"),
    **{name: name for name in ("messages", "prompt", "tools", "model", "temperature", "turn")},
    **{name: name for name in ("input_tokens", "output_tokens")},
    "parent_id": "parent",
}
"""The request's field that a line's field says; those that are not here need more than to be taken over."""
_RARE = openai_odd.SAID_ELSEWHERE - _FIELDS.keys() - _Line.__annotations__.keys()
_NAMES = {**_Line.__annotations__, **dict.fromkeys((*SAMPLING, *_RARE), Any)}
_SampledLine = TypedDict("_SampledLine", _NAMES, total=False)  # type: ignore[misc]
_decode: Callable[[bytes], dict[str, Any]] = msgspec.json.Decoder(cast(Any, _SampledLine)).decode

_MAY_HOLD_A_PICTURE = 16 << 10
"""Bytes of a record from which on plain text in it is searched for inline data; parts that are no text always are."""


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
            line = _decode(record)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return openai_odd.requests(record, where, report)
        said: dict[str, Any] = {"source": where}
        more: dict[str, Any] = {}
        for name, value in line.items():
            if value or value.__class__ is float or value.__class__ is int:
                field = _FIELDS.get(name)
                if field is None:
                    more[name] = value
                elif field not in said:
                    said[field] = value
                else:
                    said[field] = _believed(field, line)
        if not _is_usual(said, more) or (len(record) >= _MAY_HOLD_A_PICTURE and b";base64," in record):
            return openai_odd.requests(record, where, report)
        if "id" not in said:
            said["id"] = where
        if "time_s" in said:
            said["time_s"] = time_of(said["time_s"], report)
            if said["time_s"] is None:
                return openai_odd.requests(record, where, report)
        if "tools" in said:
            said["tools"] = list(map(openai_tool, said["tools"]))
        if more:
            _say(more, said)
        return (Request(**said),)


def _believed(field: str, line: dict[str, Any]) -> Any:
    """Where a line says one thing under several names, what the first of them says."""
    return next(value for name, of in _FIELDS.items() if of == field and (value := line.get(name)) not in (None, ""))


def _is_usual(said: dict[str, Any], more: dict[str, Any]) -> bool:
    """Whether nothing in the line needs more than its types say: nothing wrapped, no media, no system prompt apart, no
    field under one of its rarer names."""
    if more and not _RARE.isdisjoint(more):
        return False
    if messages := said.get("messages"):
        for message in messages:
            if message.content.__class__ is list and not only_text(message.content):
                return False
        said.pop("prompt", None)
        if "system" in more or "functions" in more:
            return False
    elif "prompt" not in said or not more.keys().isdisjoint(("body", "request", "system", "functions")):
        return False
    return True


def _say(more: dict[str, Any], said: dict[str, Any]) -> None:
    """What is not one field for one: counts, whose request it is, and the parameters of sampling."""
    usage, metadata, user = more.pop("usage", None), more.pop("metadata", None), more.pop("user", None)
    if usage is not None:
        said["input_tokens"] = _either(usage.prompt_tokens, usage.input_tokens)
        said["output_tokens"] = _either(usage.completion_tokens, usage.output_tokens)
    if "tenant" not in said:
        said["tenant"] = openai_odd.tenant_in(metadata or {}) or user
    if "session" not in said:
        said["session"] = openai_odd.session_in(metadata or {})
    more.pop("body", None)
    more.pop("request", None)
    said["sampling"] = more or None


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
