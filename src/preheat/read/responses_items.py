"""The items of a Responses ``input`` (OpenAI, 2025) as chat messages."""

from __future__ import annotations

from typing import Any

from preheat.read.messages import as_text

_TEXTS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text"})
_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


def chat_of(items: list[Any]) -> list[Any]:
    """Messages in OpenAI's chat form. Calls in a row are those of one assistant message, which may have text before
    them; thoughts, references to items elsewhere and calls of built-in tools say nothing that could be rendered."""
    messages: list[Any] = []
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(item, dict) or (kind in (None, "message") and "role" not in item):
            messages.append(item)
        elif kind in (None, "message"):
            messages.append({**item, "content": _content(item.get("content"))})
        elif kind in _CALLS:
            call = {"name": item.get("name"), "arguments": as_text(item.get("arguments", item.get("input")))}
            _calling(messages).append({"id": item.get("call_id"), "type": "function", "function": call})
        elif kind in _RESULTS:
            output = item.get("output")
            content = _content(output) if isinstance(output, list) else as_text(output)
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": content})
        elif "role" in item:
            messages.append(item)
    return messages


def _calling(messages: list[Any]) -> list[Any]:
    """The calls of the assistant message that is last, which is made if there is none."""
    last = messages[-1] if messages else None
    if not isinstance(last, dict) or last.get("role") != "assistant":
        last = {"role": "assistant", "content": None}
        messages.append(last)
    calls: list[Any] = last.setdefault("tool_calls", [])
    return calls


def _content(content: Any) -> Any:
    """Text parts under chat's name for them; a single one as the text itself."""
    if not isinstance(content, list):
        return content
    parts = [
        {"type": "text", "text": as_text(part.get("text", part.get("refusal")))}
        if isinstance(part, dict) and part.get("type") in _TEXTS
        else part
        for part in content
    ]
    return parts[0]["text"] if len(parts) == 1 and isinstance(parts[0], dict) and "text" in parts[0] else parts
