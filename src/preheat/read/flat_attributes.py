"""Conventions that put a chat into numbered attributes: ``gen_ai.prompt.0.content``, ``llm.input_messages.0.…``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from preheat.read.messages import as_text, messages_of
from preheat.read.nested import decoded, opened
from preheat.read.prompt_value import CUT_OFF, Asked, understood
from preheat.read.spans import Attributes
from preheat.read.truncation import up_to_the_cut
from preheat.read.unreadable import Unreadable

NO_BEGINNING = "a prompt without its beginning"
_LONGEST_NUMBER = 9
_DEEPEST = 100
Entry = dict[str, Any]


def asked_flat(attributes: Attributes) -> Asked | None:
    """The conventions that number their messages in the attributes' names, or hold them there as a list.

    Where a number is missing, the prompt is known up to there. Raises :class:`Unreadable` when it is the first.
    """
    for prefix in ("gen_ai.prompt", "llm.prompts"):
        entries = numbered(attributes, prefix)
        if not entries:
            continue
        first = entries[min(entries)]
        if "prompt" in first:
            inner = first["prompt"]
            return understood(as_text(inner.get("text") if isinstance(inner, dict) else inner))
        if len(entries) == 1 and (_is_completion(attributes) or "role" not in first):
            return understood(as_text(first.get("content")))
        return _chat(entries, _openllmetry)
    if attributes.get("llm.prompts"):
        return understood(attributes["llm.prompts"])
    entries = numbered(attributes, "llm.input_messages")
    listed = decoded(attributes.get("llm.input_messages"))
    if not entries and isinstance(listed, list):
        entries = {number: entry for number, entry in enumerate(listed) if isinstance(entry, dict)}
    return _chat(entries, _openinference) if entries else None


def _is_completion(attributes: Attributes) -> bool:
    kind = attributes.get("gen_ai.operation.name", attributes.get("llm.request.type"))
    return kind in ("text_completion", "completion")


def _chat(entries: dict[int, Entry], form: Callable[[Entry], tuple[Entry, bool]]) -> Asked:
    if 0 not in entries:
        raise Unreadable(NO_BEGINNING)
    found, cut = list[Entry](), False
    for place, number in enumerate(sorted(entries)):
        cut = cut or number != place
        if cut:
            break
        message, cut = form(entries[number])
        found.append(message)
    messages, marked = up_to_the_cut(messages_of(found), limited=True)
    return Asked(messages=messages, truncated=cut or marked)


def _openllmetry(entry: Entry) -> tuple[Entry, bool]:
    content, cut = content_of(entry.get("content"))
    calls = _within(entry.get("tool_calls"))
    return {**entry, "content": content, "tool_calls": list(map(_call, calls))}, cut


def _openinference(entry: Entry) -> tuple[Entry, bool]:
    entry = entry.get("message", entry)
    if not isinstance(entry, dict):
        raise Unreadable("a message is not an object")
    parts = _within(entry.get("contents"))
    calls = _within(entry.get("tool_calls"))
    content, cut = content_of(entry.get("content"))
    if content is None and parts:
        content = [part.get("message_content", part) for part in parts]
    return {**entry, "content": content, "tool_calls": [_call(call.get("tool_call", call)) for call in calls]}, cut


def content_of(content: Any) -> tuple[Any, bool]:
    """A message's content, its parts taken out of JSON text, as far as they are there; and whether they were cut."""
    value, cut = opened(content)
    if not isinstance(value, list) or not value:
        return content, False
    kept = value[:-1] if cut and not (isinstance(value[-1], dict) and len(value[-1]) > 1) else value
    if all(isinstance(part, dict) and "type" in part for part in value[: max(1, len(kept))]):
        return kept, cut
    if cut and isinstance(value[0], dict) and not value[0]:
        raise Unreadable(CUT_OFF)
    return content, False


def _call(call: Any) -> Entry:
    if not isinstance(call, dict):
        raise Unreadable("a tool call is not an object")
    inner = call.get("function")
    function = inner if isinstance(inner, dict) else call
    named = {"name": function.get("name"), "arguments": as_text(function.get("arguments"))}
    ident = {"id": call["id"]} if "id" in call else {}
    return {**ident, "type": "function", "function": named}


def _within(node: Any) -> list[Any]:
    """The entries of a list that is numbered on (``tool_calls.0.name``), or that stands there whole."""
    node = decoded(node)
    if isinstance(node, list):
        return node
    return unflatten({f"c.{name}": value for name, value in _flattened(node)}, "c")


def _flattened(node: Any, path: str = "") -> list[tuple[str, Any]]:
    if not isinstance(node, dict):
        return [(path, node)] if path else []
    return [leaf for name, inner in node.items() for leaf in _flattened(inner, f"{path}.{name}" if path else name)]


def unflatten(attributes: Attributes, prefix: str) -> list[Entry]:
    """``{prefix.0.a.b: x, prefix.1.a: y}`` → ``[{"a": {"b": x}}, {"a": y}]``, in the order of the numbers."""
    found = numbered(attributes, prefix)
    return [found[number] for number in sorted(found)]


def numbered(attributes: Attributes, prefix: str) -> dict[int, Entry]:
    """The same by number.

    Raises :class:`Unreadable` for a name that is deeper, or a number that is larger, than any message needs.
    """
    found: dict[int, Entry] = {}
    start = prefix + "."
    if start not in "\n".join(attributes):
        return found
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
    return found
