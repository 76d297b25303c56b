"""Chat messages as the world writes them, to ours.

OpenAI's form, OpenTelemetry's parts, Gemini's contents, LangChain's and the Vercel AI SDK's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.read.content import expanded, holds_blocks, without_media
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""Other names for OpenAI's roles (LangChain's, Gemini's)."""
_LANGCHAIN = ("system", "human", "ai", "tool", "function", "chat")


def messages_of(value: Any) -> tuple[Message, ...]:
    """A JSON list of messages, Anthropic's with their blocks too. Raises :class:`Unreadable` for anything else, and for
    an empty list."""
    if not isinstance(value, list):
        raise Unreadable("messages are not a list")
    if not value:
        raise Unreadable("no messages")
    return tuple(message_of(entry) for entry in _expanded(value))


def message_of(entry: Any) -> Message:
    """One message: ``{"role", "content"}`` or ``{"role", "parts": [...]}``. Raises :class:`Unreadable`."""
    if not isinstance(entry, dict):
        raise Unreadable("a message is not an object")
    entry = _unwrapped(entry)
    role = entry.get("role")
    if not isinstance(role, str) or not role:
        raise Unreadable("a message has no role")
    calls, call_id = entry.get("tool_calls"), entry.get("tool_call_id")
    extra = entry.get("additional_kwargs")
    if not calls and isinstance(extra, dict):
        calls = extra.get("tool_calls")
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
        content=without_media(content),
        name=entry["name"] if isinstance(entry.get("name"), str) else None,
        tool_calls=calls if isinstance(calls, list) and calls else None,
        tool_call_id=call_id if isinstance(call_id, str) else None,
    )


def _unwrapped(entry: dict[str, Any]) -> dict[str, Any]:
    """LangChain's serialised messages, whose role is the name of a class or a type, with a role."""
    if isinstance(entry.get("role"), str):
        return entry
    inner = entry.get("kwargs") or entry.get("data")
    fields = inner if isinstance(inner, dict) else entry
    path = entry.get("id")
    named = path[-1] if isinstance(path, list) and path else entry.get("type")
    kind = named.removesuffix("Chunk").removesuffix("Message").lower() if isinstance(named, str) else ""
    return {**fields, "role": kind} if kind in _LANGCHAIN else fields


def _expanded(entries: list[Any]) -> Iterator[Any]:
    """The entries; those whose parts are calls of tools and their results made into messages of the usual form."""
    for entry in entries:
        if holds_blocks(entry):
            yield from expanded(entry)
        elif isinstance(entry, dict) and isinstance(entry.get("content"), list):
            yield from _of_parts(entry, entry["content"])
        elif isinstance(entry, dict) and "content" not in entry and isinstance(entry.get("parts"), list):
            yield from _with_answers_apart(entry, entry["parts"])
        else:
            yield entry


def _of_parts(entry: dict[str, Any], content: list[Any]) -> Iterator[dict[str, Any]]:
    """A message with typed parts; the AI SDK's tool calls and results, parts too, go where OpenAI has them."""
    kept: list[Any] = []
    calls: list[Any] = []
    results: list[dict[str, Any]] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool-call":
            arguments = part.get("input", part.get("args", {}))
            calls.append(_call({"id": part.get("toolCallId"), "name": part.get("toolName"), "arguments": arguments}))
        elif kind == "tool-result":
            text = _output(part.get("output", part.get("result")))
            results.append({"role": "tool", "content": text, "tool_call_id": part.get("toolCallId")})
        else:
            kept.append(part)
    if kept or calls or not results:
        yield {**entry, "content": kept or None, **({"tool_calls": calls} if calls else {})}
    yield from results


def _with_answers_apart(entry: dict[str, Any], parts: list[Any]) -> Iterator[dict[str, Any]]:
    """OpenTelemetry's parts, with every answer of a tool as a message of its own, whatever role it was noted under."""
    kept: list[Any] = []
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "tool_call_response":
            if kept:
                yield {**entry, "parts": kept}
                kept = []
            yield {"role": "tool", "parts": [part]}
        else:
            kept.append(part)
    if kept or not parts:
        yield {**entry, "parts": kept}


def _output(value: Any) -> Any:
    """A tool's answer: the text, or the JSON, that the AI SDK says it is; a list of parts stays one."""
    if isinstance(value, dict) and "value" in value and isinstance(value.get("type"), str):
        value = value["value"]
    if isinstance(value, list) and all(isinstance(part, dict) and "type" in part for part in value):
        return value
    return as_text(value)


def _from_parts(parts: list[Any]) -> tuple[str | list[Any] | None, list[Any], str | None]:
    """OpenTelemetry's or Gemini's parts to content, tool calls and the id of the call that a tool's answer is for."""
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
        asked = part.get("function_call", part.get("functionCall"))
        answered = part.get("function_response", part.get("functionResponse"))
        if isinstance(asked, dict):
            calls.append(_call({**asked, "arguments": asked.get("args", asked.get("arguments", {}))}))
        elif isinstance(answered, dict):
            content.append({"type": "text", "text": as_text(answered.get("response"))})
        elif kind == "text" and (isinstance(text, str) or not _MEDIA & part.keys()):
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
    if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in content):
        return "".join(part["text"] for part in content), calls, call_id
    return content, calls, call_id


_MEDIA = {"inline_data", "inlineData", "file_data", "fileData"}


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
