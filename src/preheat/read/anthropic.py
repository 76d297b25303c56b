"""Anthropic's messages: API bodies, gateways' envelopes around them, and lines of Message Batches.

``{"system", "messages", "tools", ...}`` bare, under ``body``/``request``/``params``... (``{"custom_id", "params"}``).
``system`` (text or blocks) becomes the first message, ``tool_use`` blocks tool calls, ``tool_result`` blocks messages
of the role ``tool``, tools take OpenAI's form with ``input_schema`` as their parameters. ``cache_control`` and thoughts
are left out, ``metadata.user_id`` is whose request it is, ``stop_sequences``, ``top_k`` and so on are sampling.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from preheat.read.content import holds_blocks
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.openai_odd import decode_object, layers_of, requests_in
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "anthropic-messages"
_NOT_SO = "no messages in Anthropic's form"
_MARKS = ("anthropic_version", "anthropic_beta", "stop_sequences", "thinking")


class AnthropicMessages:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            outer = decode_object(record)
        except Unreadable as why:
            return why.message
        return None if _is_anthropic(outer) else _NOT_SO

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        return requests_in(decode_object(record), where, report)


def _is_anthropic(outer: dict[str, Any]) -> bool:
    layers = layers_of(outer)
    body = layers[-1]
    messages = body.get("messages")
    if not isinstance(messages, list):
        return False
    if body.get("system") or any(name in layer for layer in layers for name in _MARKS) or "params" in outer:
        return True
    tools = body.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return True
    return str(body.get("model") or "").startswith("claude") or any(map(holds_blocks, messages))
