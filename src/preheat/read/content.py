"""Message content that is more than text: Anthropic's blocks into OpenAI's messages, and media to their hashes."""

from __future__ import annotations

from typing import Any

import msgspec

from preheat.read import media

_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_RESULTS = frozenset({"tool_result", "web_search_tool_result", "mcp_tool_result"})
_BLOCKS = _CALLS | _RESULTS | _THOUGHTS


def only_text(content: list[Any]) -> bool:
    """Whether the parts are text and nothing that has to be looked at: the usual case, told quickly."""
    return all(
        type(part) is dict and part.get("type") == "text" and len(part) == 2 and "text" in part for part in content
    )


def without_media(content: Any) -> Any:
    """A message's content with a hash in the place of every picture, sound or file, and without ``cache_control``."""
    if isinstance(content, str):
        return media.text_without_media(content)
    if not isinstance(content, list):
        return content
    return [media.part_without_media(_uncontrolled(part)) for part in content]


def _uncontrolled(part: Any) -> Any:
    if isinstance(part, dict) and "cache_control" in part:
        return {name: value for name, value in part.items() if name != "cache_control"}
    return part


def holds_blocks(entry: Any) -> bool:
    """Whether a message's content has blocks that OpenAI's form puts elsewhere: calls, their results, thoughts."""
    content = entry.get("content") if isinstance(entry, dict) else None
    return isinstance(content, list) and any(isinstance(part, dict) and part.get("type") in _BLOCKS for part in content)


def expanded(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """A message with such blocks as messages in OpenAI's form: results first, each a ``tool`` message, then the rest.

    ``tool_use`` blocks become ``tool_calls``; thoughts are left out, as providers leave them out of later prompts.
    """
    results: list[dict[str, Any]] = []
    parts: list[Any] = []
    calls: list[dict[str, Any]] = []
    for part in entry["content"]:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _RESULTS:
            results.append(
                {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": _result(part.get("content"))}
            )
        elif kind in _CALLS:
            calls.append(_call(part))
        elif kind not in _THOUGHTS:
            parts.append(part)
    if not parts and not calls:
        return results
    rest = {**entry, "content": _joined(parts) if parts else None}
    if calls:
        rest["tool_calls"] = calls
    return [*results, rest]


def _call(part: dict[str, Any]) -> dict[str, Any]:
    given = part.get("input")
    arguments = given if isinstance(given, str) else msgspec.json.encode({} if given is None else given).decode()
    function = {"name": part.get("name"), "arguments": arguments}
    return {"id": part.get("id"), "type": "function", "function": function}


def _result(content: Any) -> Any:
    if isinstance(content, list):
        return _joined(content)
    return content if content is None or isinstance(content, str) else msgspec.json.encode(content).decode()


def _joined(parts: list[Any]) -> Any:
    """Text parts alone as one text, as engines that take such blocks join them; others stay parts."""
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part for part in parts]
    plain = [text for text in texts if isinstance(text, str)]
    return "".join(plain) if len(plain) == len(parts) else parts
