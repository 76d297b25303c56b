"""What spans say beside the prompt: whose call it was, of which model, with which parameters, and what it used."""

from __future__ import annotations

from typing import Any

from preheat.read.nested import decoded
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.span_parameters import parameters_in
from preheat.read.spans import Attributes, Span

_MODELS = ("gen_ai.request.model", "llm.request.model", "llm.model_name", "ai.model.id", "model_name", "model")
_TENANTS = ("tenant.id", "tenant", "tenant_id", "organization.id", "user.id", "enduser.id", "langfuse.user.id")
_USERS = ("gen_ai.request.user", "gen_ai.user.id", "llm.user", "user_id")
_ASSOCIATIONS = ("traceloop.association.properties.", "ai.telemetry.metadata.", "langfuse.trace.metadata.", "metadata.")
_TENANT_NAMES = ("tenant_id", "tenant", "tenantId", "organization_id", "organizationId", "user_id", "userId", "user")
_SESSIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "session_id",
    "conversation_id",
    "thread_id",
)
_SESSION_NAMES = ("session_id", "sessionId", "chat_id", "chatId", "conversation_id", "conversationId", "thread_id")
_ADAPTERS = ("gen_ai.request.adapter", "lora.name", "lora_name", "lora", "adapter")
_LIMITS = (
    "gen_ai.request.max_tokens",
    "llm.request.max_tokens",
    "ai.settings.maxOutputTokens",
    "ai.settings.maxTokens",
)
_TEMPERATURES = ("gen_ai.request.temperature", "llm.request.temperature", "llm.temperature", "ai.settings.temperature")
_PARAMETERS = ("gen_ai.request.", "gen_ai.openai.request.", "llm.request.", "ai.settings.", "llm.")
_INPUTS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)
_OUTPUTS = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
)
LIMIT_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_tokens_to_sample")


def fields_of(span: Span, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a ``Request`` other than prompt, id, tools and place; ``given``: the request's body if known."""
    attributes = span.attributes
    parameters = decoded(attributes.get("llm.invocation_parameters"))
    given = {**given, **(parameters if isinstance(parameters, dict) else {})}
    limit = _number(attributes, _LIMITS, _number(given, LIMIT_NAMES))
    return {
        "time_s": span.time_s,
        "parent": "-".join(filter(None, (span.trace, span.parent))) if span.parent else None,
        "model": _text(attributes, _MODELS) or as_name(given.get("model")),
        "adapter": _text(attributes, _ADAPTERS),
        "tenant": _tenant(attributes) or _text(span.resource, _TENANTS),
        "session": _session(attributes),
        "temperature": _number(attributes, _TEMPERATURES, _number(given, ("temperature",))),
        "sampling": sampling_of(attributes, given),
        "max_tokens": as_whole(limit),
        "input_tokens": as_whole(_number(attributes, _INPUTS)),
        "output_tokens": as_whole(_number(attributes, _OUTPUTS)),
    }


def sampling_of(attributes: Attributes, given: dict[str, Any]) -> dict[str, Any] | None:
    """Parameters from both places; the attributes win."""
    merged = (parameters_in(given) or {}) | (parameters_in(attributes, _PARAMETERS) or {})
    return merged or None


def _tenant(attributes: Attributes) -> str | None:
    said = _text(attributes, _TENANTS + _USERS)
    return said or _associated(attributes, _TENANT_NAMES)


def _session(attributes: Attributes) -> str | None:
    """Frameworks put their own name before ``session.id``."""
    said = _text(attributes, _SESSIONS) or _associated(attributes, _SESSION_NAMES)
    return said or _text(attributes, tuple(name for name in attributes if name.endswith(".session.id")))


def _associated(attributes: Attributes, names: tuple[str, ...]) -> str | None:
    for prefix in _ASSOCIATIONS:
        found = _text(attributes, tuple(prefix + name for name in names))
        if found:
            return found
    metadata = decoded(attributes.get("metadata"))
    return _text(metadata, names) if isinstance(metadata, dict) else None


def _text(attributes: Attributes, names: tuple[str, ...]) -> str | None:
    for name in names:
        text = as_name(attributes.get(name))
        if text is not None:
            return text
    return None


def _number(attributes: Attributes, names: tuple[str, ...], otherwise: float | None = None) -> float | None:
    for name in names:
        number = as_number(attributes.get(name))
        if number is not None:
            return number
    return otherwise
