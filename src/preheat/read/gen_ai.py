"""What a span's attributes and events say was asked, in the conventions of several years.

In the order in which they are believed: ``gen_ai.input.messages`` (OpenTelemetry, since 2025; on the span or on
its details event), ``gen_ai.prompt.N.*`` and ``llm.prompts.N.*`` (OpenLLMetry), ``llm.input_messages.N.*``
(OpenInference), the message events ``gen_ai.user.message`` and so on (2024-2025), the ``gen_ai.content.prompt``
event, ``ai.prompt*`` (Vercel), ``llm.request.prompt`` (the source article), and ``input.value`` (OpenInference).
"""

from __future__ import annotations

from typing import Any

from preheat.read.flat_attributes import Asked, asked_flat, decoded, unflatten
from preheat.read.messages import as_text, message_of, messages_of, openai_tool
from preheat.read.spans import Attributes, Span
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message

_MESSAGE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_PROMPT_ATTRIBUTES = ("gen_ai.prompt", "ai.prompt.messages", "ai.prompt", "llm.request.prompt", "input.value", "input")


def asked(span: Span) -> Asked | None:
    """The prompt of the span, or ``None`` when it has none. Raises :class:`Unreadable` for one that is damaged."""
    for holder in (span.attributes, *(attributes for _, attributes in span.events)):
        if holder.get("gen_ai.input.messages") is not None:
            return _with_system(_understood(holder["gen_ai.input.messages"]), holder)
    flat = asked_flat(span.attributes)
    if flat:
        return flat
    messages = _from_events(span.events)
    if messages:
        return messages, None
    for name, attributes in span.events:
        if name == "gen_ai.content.prompt" and attributes.get("gen_ai.prompt") is not None:
            return _understood(attributes["gen_ai.prompt"])
    for name in _PROMPT_ATTRIBUTES:
        if span.attributes.get(name):
            return _with_system(_understood(span.attributes[name]), span.attributes)
    return None


def tools(span: Span) -> list[Any] | None:
    """The tools that were offered, in OpenAI's form where the source names their parts."""
    attributes = span.attributes
    for holder in (attributes, *(event for _, event in span.events)):
        defined = decoded(holder.get("gen_ai.tool.definitions"))
        if isinstance(defined, list) and defined:
            return [openai_tool(tool) for tool in map(decoded, defined)]
    for entry_name in ("llm.tools", "llm.request.functions", "ai.prompt.tools"):
        listed = attributes.get(entry_name)
        entries = listed if isinstance(listed, list) else unflatten(attributes, entry_name)
        if entries:
            return [openai_tool(_tool_schema(entry)) for entry in entries]
    return None


def _understood(value: Any) -> Asked:
    """Messages, or text, from whatever an attribute holds."""
    value = decoded(value)
    if isinstance(value, str):
        if value.lstrip().startswith(('[{"', '{"messages"')):
            raise Unreadable("a prompt attribute that was cut off")
        return (), value
    if isinstance(value, list):
        return messages_of(list(map(decoded, value))), None
    if isinstance(value, dict):
        system = _system(value.get("system"))
        if isinstance(value.get("messages"), list):
            return (*system, *messages_of(value["messages"])), None
        if isinstance(value.get("prompt"), str):
            return (*system, Message(role="user", content=value["prompt"])), None
        if "role" in value:
            return (message_of(value),), None
    raise Unreadable("a prompt attribute of unknown shape")


def _with_system(found: Asked, holder: Attributes) -> Asked:
    messages, prompt = found
    if not messages or messages[0].role == "system":
        return found
    return (*_system(decoded(holder.get("gen_ai.system_instructions"))), *messages), prompt


def _system(value: Any) -> tuple[Message, ...]:
    text = "".join(map(_part_text, value)) if isinstance(value, list) else value
    return (Message(role="system", content=text),) if isinstance(text, str) and text else ()


def _part_text(part: Any) -> str:
    return as_text(part.get("content", part.get("text")) if isinstance(part, dict) else part)


def _tool_schema(entry: Any) -> Any:
    entry = decoded(entry)
    if isinstance(entry, dict):
        inner = entry.get("tool", entry)
        schema = decoded(inner.get("json_schema")) if isinstance(inner, dict) else None
        if schema is not None:
            return schema
        return {name: decoded(value) for name, value in entry.items()}
    return entry


def _from_events(events: list[tuple[str, Attributes]]) -> tuple[Message, ...]:
    """The message events, in their order; ``gen_ai.choice`` is the answer and no part of the prompt."""
    messages = []
    for name, attributes in events:
        role = _MESSAGE_EVENTS.get(name)
        if role is None:
            continue
        body = decoded(attributes.get("gen_ai.event.content", attributes.get("body", attributes)))
        fields = body if isinstance(body, dict) else {"content": body}
        calls = decoded(fields.get("tool_calls"))
        messages.append(message_of({"role": role, **fields, "tool_calls": calls, "tool_call_id": fields.get("id")}))
    return tuple(messages)
