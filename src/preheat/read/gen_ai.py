"""What a span's attributes and events say was asked, in the conventions of several years.

In the order in which they are believed: ``gen_ai.input.messages`` (OpenTelemetry, since 2025; on the span or on
its details event), ``gen_ai.prompt.N.*`` and ``llm.prompts.N.*`` (OpenLLMetry), ``llm.input_messages.N.*``
(OpenInference), the message events ``gen_ai.user.message`` and so on (2024-2025), the ``gen_ai.content.prompt``
event, ``ai.prompt*`` (Vercel), ``llm.request.prompt`` (the source article), what single frameworks call a request,
and ``input.value`` (OpenInference).
"""

from __future__ import annotations

from typing import Any

import msgspec

from preheat.read.flat_attributes import asked_flat, content_of, unflatten
from preheat.read.messages import messages_of
from preheat.read.nested import decoded, opened
from preheat.read.prompt_value import Asked, understood, with_system
from preheat.read.spans import Attributes, Span
from preheat.read.tool_forms import tools_of
from preheat.read.truncation import up_to_the_cut
from preheat.read.unreadable import Unreadable

_MESSAGE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_PROMPT_ATTRIBUTES = (
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
    "llm.request.prompt",
    "llm.request.messages",
    "gcp.vertex.agent.llm_request",
    "request_data",
    "all_messages_events",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "input.value",
    "input",
)
_NUMBERED_TOOLS = ("llm.tools", "llm.request.functions")
_TOOL_ATTRIBUTES = ("gen_ai.tool.definitions", "gen_ai.request.tools", *_NUMBERED_TOOLS, "ai.prompt.tools", "tools")


def asked(span: Span) -> Asked | None:
    """The prompt of the span, or ``None`` when it has none. Raises :class:`Unreadable` for one that is damaged."""
    found = _asked(span)
    if found is None or not (span.lost_attributes or (span.lost_events and span.events)):
        return found
    return msgspec.structs.replace(found, truncated=True)


def _asked(span: Span) -> Asked | None:
    for holder in (span.attributes, *(attributes for _, attributes in span.events)):
        if holder.get("gen_ai.input.messages") is not None:
            return with_system(understood(holder["gen_ai.input.messages"]), holder.get("gen_ai.system_instructions"))
    found = asked_flat(span.attributes) or _from_events(span.events)
    if found:
        return found
    for name, attributes in span.events:
        if name == "gen_ai.content.prompt" and attributes.get("gen_ai.prompt") is not None:
            return understood(attributes["gen_ai.prompt"])
    for name in _PROMPT_ATTRIBUTES:
        if span.attributes.get(name):
            instructions = span.attributes.get("gen_ai.system_instructions")
            return with_system(understood(span.attributes[name]), instructions)
    return None


def tools(span: Span) -> list[Any] | None:
    """The tools that were offered, in OpenAI's form where the source names their parts.

    Raises :class:`Unreadable` where their definitions were cut: they come first in a prompt.
    """
    for holder in (span.attributes, *(event for _, event in span.events)):
        for name in _TOOL_ATTRIBUTES:
            if holder.get(name):
                value, cut = opened(holder[name])
                if cut:
                    raise Unreadable("tool definitions that were cut off")
                found = tools_of(value)
                if found:
                    return found
    for name in _NUMBERED_TOOLS:
        found = tools_of(unflatten(span.attributes, name))
        if found:
            return found
    parameters = decoded(span.attributes.get("model_request_parameters"))
    if isinstance(parameters, dict):
        return (tools_of(parameters.get("function_tools")) or []) + (
            tools_of(parameters.get("output_tools")) or []
        ) or None
    return None


def _from_events(events: list[tuple[str, Attributes]]) -> Asked | None:
    """The message events, in their order; ``gen_ai.choice`` is the answer and no part of the prompt."""
    messages: list[dict[str, Any]] = []
    cut = False
    for name, attributes in events:
        role = _MESSAGE_EVENTS.get(name)
        if role is None or cut:
            continue
        body, cut = opened(attributes.get("gen_ai.event.content", attributes.get("body", attributes)))
        fields = body if isinstance(body, dict) else {"content": body}
        content, torn = content_of(fields.get("content"))
        cut = cut or torn
        extra = {"content": content, "tool_calls": decoded(fields.get("tool_calls")), "tool_call_id": fields.get("id")}
        messages.append({"role": role, **fields, **extra})
    if not messages:
        return None
    known, marked = up_to_the_cut(messages_of(messages), limited=True)
    return Asked(messages=known, truncated=cut or marked)
