"""From our requests and prefixes to the bodies of OpenAI's routes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from preheat.prompts.chatml import END, START, parse
from preheat.records.rendering import Prefix
from preheat.records.request import Message, Request

_SWITCHES = ("chat_template_kwargs", "reasoning_effort")
"""Parameters that templates read, so that without them it would be another prompt."""


@dataclass(frozen=True)
class Chat:
    """A conversation as it goes over the wire. ``complete``: its last message (or, with none, its tools) has ended."""

    messages: list[dict[str, Any]]
    tools: list[Any] | None = None
    complete: bool = True

    def extended(self, more: list[dict[str, Any]]) -> Chat:
        """With further messages."""
        return replace(self, messages=[*self.messages, *more], complete=True)

    def with_text(self, text: str) -> Chat:
        """With another text in its last message."""
        *head, last = self.messages
        return replace(self, messages=[*head, {**last, "content": text}])

    def body(self) -> dict[str, Any]:
        """The part of a chat body that decides the prompt."""
        return {"messages": self.messages, **({"tools": self.tools} if self.tools else {})}


def message_object(message: Message) -> dict[str, Any]:
    """A message in OpenAI's shape; what is absent stays absent, but for ``content``."""
    fields = {
        "role": message.role,
        "content": message.content,
        "name": message.name,
        "tool_calls": message.tool_calls,
        "tool_call_id": message.tool_call_id,
    }
    return {name: value for name, value in fields.items() if value is not None or name == "content"}


def chat_of(prefix: Prefix) -> Chat | None:
    """A prefix under our default rendering as a conversation; ``None`` for any other text."""
    if not prefix.rendering.is_default:
        return None
    messages, tools, complete = parse(prefix.text)
    if not messages and not tools:
        return None
    ended = complete or (bool(messages) and not _breaks_off_in_content(prefix.text))
    return Chat([message_object(message) for message in messages], tools, ended)


def _breaks_off_in_content(text: str) -> bool:
    tail = text[text.rfind(END) + len(END) :] if END in text else text
    tail = tail.removeprefix("\n")
    return tail.startswith(START) and "\n" in tail


def request_body(request: Request, *, model: str, max_tokens: int) -> dict[str, Any]:
    """The streaming body for a logged request, chat or completion."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": max_tokens,
        "temperature": 0.0 if request.temperature is None else request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.prompt is not None:
        return body | {"prompt": request.prompt}
    switches = {name: value for name, value in (request.sampling or {}).items() if name in _SWITCHES}
    return body | switches | Chat([message_object(m) for m in request.messages], request.tools).body()


def with_nonce(body: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The body with ``namespace`` in front of its first content: its own corner of any prefix cache.

    What a template puts before the first content (a few tokens; a default system prompt where the template adds
    one) stays shared.
    """
    nonce = f"[{namespace}] "
    if "prompt" in body:
        return body | {"prompt": nonce + body["prompt"]}
    first, *rest = body["messages"]
    content = first.get("content")
    parts = isinstance(content, list)
    content = [{"type": "text", "text": nonce}, *content] if parts else nonce + (content or "")
    return body | {"messages": [{**first, "content": content}, *rest]}


def chat_route(body: dict[str, Any]) -> str:
    """The route that a body is for."""
    return "/v1/completions" if "prompt" in body else "/v1/chat/completions"
