"""Chat messages as the world writes them, to ours: OpenAI's form, OpenTelemetry's parts form, Gemini's contents."""

from __future__ import annotations

from typing import Any

import msgspec

from preheat.read.content import expanded, holds_blocks, without_media
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""Other names for OpenAI's roles (LangChain's, Gemini's)."""


def messages_of(value: Any) -> tuple[Message, ...]:
    """A JSON list of messages, Anthropic's with their blocks too. Raises :class:`Unreadable` for anything else, and for
    an empty list."""
    if not isinstance(value, list):
        raise Unreadable("messages are not a list")
    if not value:
        raise Unreadable("no messages")
    return tuple(message_of(each) for entry in value for each in (expanded(entry) if holds_blocks(entry) else (entry,)))


def message_of(entry: Any) -> Message:
    """One message: ``{"role", "content"}`` or ``{"role", "parts": [...]}``. Raises :class:`Unreadable`."""
    if not isinstance(entry, dict):
        raise Unreadable("a message is not an object")
    role = entry.get("role")
    if not isinstance(role, str) or not role:
        raise Unreadable("a message has no role")
    calls, call_id = entry.get("tool_calls"), entry.get("tool_call_id")
    content = entry.get("content")
    if content is None and isinstance(entry.get("parts"), list):
        content, part_calls, part_call_id = _from_parts(entry["parts"])
        calls, call_id = calls or part_calls or None, call_id or part_call_id
    elif isinstance(content, dict):
        content = [content]
    if content is not None and not isinstance(content, str | list):
        raise Unreadable("a message's content is neither text nor parts")
    return Message(
        role=_ROLES.get(role, role),
        content=without_media(content) if isinstance(content, list) else content,
        name=entry["name"] if isinstance(entry.get("name"), str) else None,
        tool_calls=calls if isinstance(calls, list) and calls else None,
        tool_call_id=call_id if isinstance(call_id, str) else None,
    )


def _from_parts(parts: list[Any]) -> tuple[str | list[Any] | None, list[Any], str | None]:
    """OpenTelemetry's parts to content, tool calls and the id of the call that a tool's answer belongs to."""
    content: list[Any] = []
    calls: list[Any] = []
    call_id: str | None = None
    for part in parts:
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
            continue
        if not isinstance(part, dict):
            raise Unreadable("a message's part is not an object")
        kind = part.get("type", "text")
        text = part.get("content", part.get("text"))
        if kind == "text":
            content.append({"type": "text", "text": as_text(text)})
        elif kind == "tool_call":
            calls.append(_call(part))
        elif kind == "tool_call_response":
            call_id = part.get("id") if isinstance(part.get("id"), str) else call_id
            content.append({"type": "text", "text": as_text(part.get("response", part.get("result")))})
        elif kind not in ("reasoning", "thinking"):
            content.append(part)
    if not content:
        return None, calls, call_id
    if all(part.get("type") == "text" for part in content):
        return "".join(part["text"] for part in content), calls, call_id
    return content, calls, call_id


def _call(part: dict[str, Any]) -> dict[str, Any]:
    function = {"name": part.get("name"), "arguments": as_text(part.get("arguments", {}))}
    call = {"type": "function", "function": function}
    return {"id": part["id"], **call} if part.get("id") is not None else call


def as_text(value: Any) -> str:
    """Text as it is, anything else as compact JSON, nothing as an empty string."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def openai_tool(tool: Any) -> Any:
    """A function's description in the nested form that chat endpoints take, from the flat one (Responses) and
    Anthropic's (``input_schema``); others as they are. ``cache_control`` is no part of a prompt."""
    if not isinstance(tool, dict):
        return tool
    if "cache_control" in tool:
        tool = {name: value for name, value in tool.items() if name != "cache_control"}
    if "function" in tool or tool.get("type", "function") not in ("function", "custom"):
        return tool
    if not isinstance(tool.get("name"), str):
        return tool
    function = {name: value for name, value in tool.items() if name != "type"}
    if "input_schema" in function:
        function["parameters"] = function.pop("input_schema")
    return {"type": "function", "function": function}
