"""Conventions that put a chat into numbered attributes: ``gen_ai.prompt.0.content``, ``llm.input_messages.0.…``."""

from __future__ import annotations

from typing import Any

import msgspec

from preheat.read.messages import as_text, message_of
from preheat.read.spans import Attributes
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message

_LONGEST_NUMBER = 9
_DEEPEST = 100
Asked = tuple[tuple[Message, ...], str | None]
"""Messages, or the text of a completion prompt."""


def asked_flat(attributes: Attributes) -> Asked | None:
    """The conventions that number their messages in the attributes' names."""
    for prefix in ("gen_ai.prompt", "llm.prompts"):
        entries = unflatten(attributes, prefix)
        if entries and "prompt" in entries[0]:
            inner = entries[0]["prompt"]
            return (), as_text(inner.get("text") if isinstance(inner, dict) else inner)
        if entries:
            if len(entries) == 1 and (_is_completion(attributes) or "role" not in entries[0]):
                return (), as_text(entries[0].get("content"))
            return tuple(message_of(_openllmetry(entry)) for entry in entries), None
    entries = unflatten(attributes, "llm.input_messages")
    if entries:
        return tuple(message_of(_openinference(entry.get("message", entry))) for entry in entries), None
    return None


def _is_completion(attributes: Attributes) -> bool:
    kind = attributes.get("gen_ai.operation.name", attributes.get("llm.request.type"))
    return kind in ("text_completion", "completion")


def _openllmetry(entry: dict[str, Any]) -> dict[str, Any]:
    content = decoded(entry.get("content"))
    is_parts = isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)
    calls = unflatten({f"c.{name}": value for name, value in _flattened(entry.get("tool_calls"))}, "c")
    return {**entry, "content": content if is_parts else entry.get("content"), "tool_calls": list(map(_call, calls))}


def _openinference(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise Unreadable("a message is not an object")
    parts = unflatten({f"c.{name}": value for name, value in _flattened(entry.get("contents"))}, "c")
    calls = unflatten({f"c.{name}": value for name, value in _flattened(entry.get("tool_calls"))}, "c")
    content = entry.get("content")
    if content is None and parts:
        content = [part.get("message_content", part) for part in parts]
    return {**entry, "content": content, "tool_calls": [_call(call.get("tool_call", call)) for call in calls]}


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, dict):
        raise Unreadable("a tool call is not an object")
    inner = call.get("function")
    function = inner if isinstance(inner, dict) else call
    named = {"name": function.get("name"), "arguments": as_text(function.get("arguments"))}
    ident = {"id": call["id"]} if "id" in call else {}
    return {**ident, "type": "function", "function": named}


def _flattened(node: Any, path: str = "") -> list[tuple[str, Any]]:
    if not isinstance(node, dict):
        return [(path, node)] if path else []
    return [leaf for name, inner in node.items() for leaf in _flattened(inner, f"{path}.{name}" if path else name)]


def unflatten(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """``{prefix.0.a.b: x, prefix.1.a: y}`` → ``[{"a": {"b": x}}, {"a": y}]``, in the order of the numbers.

    Raises :class:`Unreadable` for a name that is deeper, or a number that is larger, than any message needs.
    """
    found: dict[int, dict[str, Any]] = {}
    start = prefix + "."
    for name, value in attributes.items():
        if not name.startswith(start):
            continue
        number, _, path = name[len(start) :].partition(".")
        if not number.isdecimal() or not path:
            continue
        if len(number) > _LONGEST_NUMBER or path.count(".") > _DEEPEST:
            raise Unreadable("an attribute's name out of all bounds")
        node = found.setdefault(int(number), {})
        *parents, leaf = path.split(".")
        for parent in parents:
            inner = node.setdefault(parent, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node[leaf] = value
    return [found[number] for number in sorted(found)]


def decoded(value: Any) -> Any:
    """Text that looks like a JSON list or object, decoded; anything else, and text that is not JSON, as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return value
