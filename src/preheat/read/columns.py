"""Which column of a table says what, by its name; and a row of such a table as an OpenAI-style record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from preheat.read.openai_odd import requests_in
from preheat.read.parameters import SAMPLING, sampling_in
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.times import time_of
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

ROLES: dict[str, tuple[str, ...]] = {
    "body": ("request_body", "body", "payload", "request_payload", "raw_request", "request_json", "request"),
    "messages": ("messages", "prompt_messages", "input_messages", "chat_messages", "chat", "conversation_messages"),
    "prompt": (
        *("prompt", "prompt_text", "input", "input_text", "user_prompt", "query", "question", "text", "instruction"),
        *("user_message", "message", "content"),
    ),
    "system": ("system", "system_prompt", "system_message", "instructions"),
    "tools": ("tools", "functions", "tool_definitions"),
    "id": ("request_id", "custom_id", "id", "req_id", "call_id", "uuid", "trace_id"),
    "timestamp": (
        *(
            "timestamp",
            "time",
            "ts",
            "created_at",
            "created",
            "start_time",
            "starttime",
            "request_time",
            "arrival_time",
        ),
        *("arrived_at", "arrival_timestamp", "launch_time", "datetime", "date_time", "event_time", "date"),
    ),
    "tenant": ("tenant", "tenant_id", "organization", "organization_id", "org_id", "team_id", "customer_id", "account"),
    "user": ("user", "user_id", "end_user", "client_id", "username"),
    "session_id": ("session_id", "session", "conversation_id", "conversation", "thread_id", "chat_id", "dialogue_id"),
    "parent": ("parent_id", "parent_request_id", "parent_chat_id", "previous_response_id"),
    "turn": ("turn", "turn_index", "turn_id", "round"),
    "model": ("model", "model_name", "model_id", "deployment", "engine"),
    "adapter": ("adapter", "lora", "lora_name", "adapter_name"),
    "temperature": ("temperature",),
    **{name: (name,) for name in SAMPLING},
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"),
    "input_tokens": (
        *("input_tokens", "prompt_tokens", "context_tokens", "contexttokens", "request_tokens", "input_length"),
        *("prompt_length", "prompt_len", "input_len", "num_prefill_tokens", "prefill_tokens", "num_prompt_tokens"),
    ),
    "output_tokens": (
        *("output_tokens", "completion_tokens", "generated_tokens", "generatedtokens", "response_tokens"),
        *("generation_tokens", "output_length", "output_len", "num_decode_tokens", "decode_tokens"),
    ),
}
"""Role to the names that a column may have for it, in the order in which they are believed; as :func:`plain` has it."""
_ASKED = ("body", "messages", "prompt")
_JSON = ("body", "messages", "tools")
_NESTED = frozenset({"body", "messages", "system", "tools"})
_NUMBERS = ("temperature", "max_tokens", "input_tokens", "output_tokens", "turn")
_decode = msgspec.json.Decoder().decode


def plain(name: str) -> str:
    """A column's name in lower case, words joined by ``_``."""
    return re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")


@lru_cache(maxsize=256)
def roles_of(names: tuple[str, ...]) -> dict[str, str]:
    """Role to the column that has it; a column has one role at most. Cached: all rows of a file have the same names."""
    by_plain: dict[str, str] = {}
    for name in names:
        by_plain.setdefault(plain(name), name)
    found: dict[str, str] = {}
    for role, spellings in ROLES.items():
        for spelling in spellings:
            if spelling in by_plain:
                found[role] = by_plain.pop(spelling)
                break
    return found


def refusal_of(names: tuple[str, ...]) -> str | None:
    """Why a table with these columns holds no requests; ``None`` when it does."""
    roles = roles_of(names)
    if any(role in roles for role in _ASKED) or ("timestamp" in roles and "input_tokens" in roles):
        return None
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"no column with a prompt, messages or a request's body, nor times with lengths, among {listed}"


def requests_in_row(row: Mapping[str, Any], where: str, report: ReadReport) -> tuple[Request, ...]:
    """The request of one row. Without a column that says what was asked it is an arrival with its lengths.

    Text in a column of messages, tools or bodies is decoded as JSON; so is a prompt that is a JSON list of messages or
    a body. Empty cells say nothing. Raises :class:`Unreadable`.
    """
    record: dict[str, Any] = {}
    for role, column in roles_of(tuple(row)).items():
        value = row[column]
        if value is None or value == "":
            continue
        if role in _NUMBERS and isinstance(value, str):
            value = _number(value)
        elif role in _JSON and isinstance(value, str):
            value = _decoded(value, role)
        elif role in SAMPLING and isinstance(value, str):
            value = _parameter(value)
        record[role] = value
    _unwrap(record)
    asked = any(role in record for role in _ASKED)
    if not asked and any(role in roles_of(tuple(row)) for role in _ASKED):
        raise Unreadable("a row without a prompt")
    if record.keys() & _NESTED or not isinstance(record.get("prompt", ""), str):
        return requests_in(record, where, report, may_be_silent=not asked)
    return (_flat(record, where, report),)


def _flat(record: dict[str, Any], where: str, report: ReadReport) -> Request:
    """A row of plain values, each one field: most rows of most tables, and many millions of them."""
    say = record.get
    return Request(
        id=as_name(say("id")) or where,
        time_s=time_of(say("timestamp"), report),
        prompt=say("prompt"),
        model=as_name(say("model")),
        adapter=as_name(say("adapter")),
        tenant=as_name(say("tenant")) or as_name(say("user")),
        session=as_name(say("session_id")),
        parent=as_name(say("parent")),
        turn=as_whole(as_number(say("turn"))),
        temperature=as_number(say("temperature")),
        sampling=sampling_in(record),
        max_tokens=as_whole(as_number(say("max_tokens"))),
        input_tokens=as_whole(as_number(say("input_tokens"))),
        output_tokens=as_whole(as_number(say("output_tokens"))),
        source=where,
    )


def _number(text: str) -> float | None:
    try:
        return as_number(float(text.replace(",", "")))
    except ValueError:
        return None


def _parameter(text: str) -> Any:
    """A number, list or object where the cell is one in JSON; else the text."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def _decoded(text: str, role: str) -> Any:
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        if role == "tools":
            return None
        return [{"role": "user", "content": text}] if role == "messages" else {"prompt": text}
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Unreadable(f"a {role} column whose JSON does not parse (cut off?)") from None


def _unwrap(record: dict[str, Any]) -> None:
    """Puts things where an OpenAI-style record has them: a system prompt before a prompt, messages that are a body."""
    body, prompt = record.get("body"), record.get("prompt")
    if isinstance(body, list):
        record["messages"] = record.pop("body")
    elif "body" in record and not isinstance(body, dict):
        del record["body"]
    if isinstance(record.get("messages"), dict):
        record["body"] = record.pop("messages")
    if "messages" in record or "body" in record:
        record.pop("prompt", None)
    elif isinstance(prompt, str) and prompt.lstrip().startswith(('[{"', '{"messages"', '{"model"', '{"prompt"')):
        found = _decoded(prompt, "prompt")
        record["messages" if isinstance(found, list) else "body"] = found
        del record["prompt"]
    elif isinstance(prompt, list | dict):
        record["messages" if isinstance(prompt, list) else "body"] = record.pop("prompt")
    elif prompt is not None and record.get("system"):
        record["messages"] = [{"role": "user", "content": record.pop("prompt")}]
