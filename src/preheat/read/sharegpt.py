"""ShareGPT: ``{"id", "conversations": [{"from", "value"}]}``, one a line or many in one list.

A conversation is as many requests as the model was asked for an answer: one for each human (or tool's) turn that an
answer follows or that is the last, with all that was said before it. Its ``session`` is the conversation's id (else its
place in the file), ``turn`` counts from 0, ``parent`` is the request before. Such files have no times and no tenants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from preheat.read.json_framing import JSON_RECORDS
from preheat.read.messages import as_text, openai_tool
from preheat.read.openai_odd import decode_object
from preheat.read.scalars import as_name
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

NAME = "sharegpt"
MOST_TURNS = 10_000
"""Every turn repeats all turns before it; a longer conversation is left out."""
_LISTS = ("conversations", "conversation", "items")
_ROLES = {
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard", "claude", "model", "bot"), "assistant"),
    **dict.fromkeys(("system",), "system"),
    **dict.fromkeys(("tool", "function", "observation", "function_response", "tool_response"), "tool"),
    **dict.fromkeys(("function_call", "tool_call"), "function_call"),
}


class ShareGPT:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            turns = _turns(decode_object(record))
        except Unreadable as why:
            return why.message
        return None if turns else "no conversation"

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        whole = decode_object(record)
        turns = _turns(whole)
        if len(turns) > MOST_TURNS:
            raise Unreadable(f"a conversation of more than {MOST_TURNS} turns")
        messages = [*_system(whole.get("system")), *map(_message, turns)]
        ident = next((name for key in ("id", "conversation_id") if (name := as_name(whole.get(key)))), where)
        if all(message.role in ("assistant", "system") for message in messages):
            raise Unreadable("a conversation in which nobody asks")
        return _requests(ident, messages, _tools(whole.get("tools")), as_name(whole.get("model")), where)


def _turns(whole: dict[str, Any]) -> list[dict[str, Any]]:
    for name in _LISTS:
        turns = whole.get(name)
        if isinstance(turns, list) and turns and all(isinstance(turn, dict) and "from" in turn for turn in turns):
            return turns
    raise Unreadable("no conversation")


def _message(turn: dict[str, Any]) -> Message:
    role, value = _ROLES.get(str(turn["from"]).lower()), as_text(turn.get("value", turn.get("text")))
    if role is None:
        raise Unreadable("a turn of somebody unknown")
    if role == "function_call":
        return Message(role="assistant", content=value)
    return Message(role=role, content=value)


def _system(value: Any) -> list[Message]:
    return [Message(role="system", content=value)] if isinstance(value, str) and value else []


def _tools(value: Any) -> list[Any] | None:
    """A list, or one written as JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return None
    return [openai_tool(tool) for tool in value] or None if isinstance(value, list) else None


def _requests(
    ident: str, messages: list[Message], tools: list[Any] | None, model: str | None, where: str
) -> Iterator[Request]:
    turn, parent = 0, None
    for end, message in enumerate(messages, 1):
        answered = end == len(messages) or messages[end].role == "assistant"
        if message.role in ("user", "tool") and answered:
            request = Request(
                id=f"{ident}#{turn}",
                messages=tuple(messages[:end]),
                tools=tools,
                model=model,
                session=ident,
                parent=parent,
                turn=turn,
                source=where,
            )
            yield request
            turn, parent = turn + 1, request.id
