"""OpenTelemetry traces in JSON: the requests are those spans that called a model and kept its prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from preheat.read import gen_ai
from preheat.read.flat_attributes import decoded
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.openai_odd import decode_object
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.spans import Span, holds_spans, spans_in
from preheat.read.unreadable import MISSHAPEN, UNEXPECTED_SHAPE, Unreadable
from preheat.records.request import ReadReport, Request

NAME = "otlp-json"
_CALLS = ("chat", "text_completion", "generate_content", "completion", "")
_MODELS = ("gen_ai.request.model", "llm.request.model", "llm.model_name", "ai.model.id")
_TENANTS = ("tenant.id", "tenant", "tenant_id", "organization.id", "user.id", "enduser.id", "langfuse.user.id")
_USERS = ("traceloop.association.properties.user_id", "gen_ai.request.user", "llm.user")
_SESSIONS = ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id")
_ADAPTERS = ("gen_ai.request.adapter", "lora.name", "lora_name", "lora", "adapter")
_LIMITS = ("gen_ai.request.max_tokens", "ai.settings.maxOutputTokens", "ai.settings.maxTokens")
_TEMPERATURES = ("gen_ai.request.temperature", "ai.settings.temperature")
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


class OTLPJson:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            whole = decode_object(record)
        except Unreadable as why:
            return why.message
        return None if holds_spans(whole) else "no spans, and no gen_ai attributes"

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        whole = decode_object(record)
        if not holds_spans(whole):
            raise Unreadable("no spans, and no gen_ai attributes")
        return _requests(list(spans_in(whole)), where, report)


def _requests(spans: list[Span], where: str, report: ReadReport) -> Iterator[Request]:
    wrappers = {span.parent for span in spans if _operation(span.attributes).startswith("ai.") and span.parent}
    for number, span in enumerate(spans):
        place = where if len(spans) == 1 else f"{where}#{number}"
        try:
            if span.ident in wrappers and "ai.prompt" in span.attributes:
                raise Unreadable("a span around a model call that has its own span")
            request = _request(span, place)
        except Unreadable as why:
            report.skip(place, why.message)
        except MISSHAPEN:
            report.skip(place, UNEXPECTED_SHAPE)
        else:
            yield request


def _request(span: Span, where: str) -> Request:
    attributes = span.attributes
    if not _is_model_call(attributes):
        raise Unreadable("a span that is not a model call")
    found = gen_ai.asked(span)
    if found is None:
        raise Unreadable("a span without a prompt")
    messages, prompt = found
    parameters = decoded(attributes.get("llm.invocation_parameters"))
    given = parameters if isinstance(parameters, dict) else {}
    return Request(
        id="-".join(filter(None, (span.trace, span.ident))) or where,
        time_s=span.time_s,
        messages=messages,
        prompt=prompt,
        tools=gen_ai.tools(span),
        model=_text(attributes, _MODELS),
        adapter=_text(attributes, _ADAPTERS),
        tenant=_text(attributes, _TENANTS + _USERS) or _text(span.resource, _TENANTS),
        session=_text(attributes, _SESSIONS) or _any_session(attributes),
        temperature=_number(attributes, _TEMPERATURES, _number(given, ("temperature",))),
        max_tokens=as_whole(_number(attributes, _LIMITS, _number(given, ("max_tokens", "max_completion_tokens")))),
        input_tokens=as_whole(_number(attributes, _INPUTS)),
        output_tokens=as_whole(_number(attributes, _OUTPUTS)),
        source=where,
    )


def _operation(attributes: dict[str, Any]) -> str:
    """The Vercel SDK's inner spans, which stand below a span of the same call."""
    name = str(attributes.get("ai.operationId") or "")
    return name if name.endswith((".doGenerate", ".doStream")) else ""


def _is_model_call(attributes: dict[str, Any]) -> bool:
    kind = attributes.get("openinference.span.kind") or attributes.get("traceloop.span.kind")
    if isinstance(kind, str) and kind.lower() not in ("llm", "generation"):
        return False
    operation = attributes.get("gen_ai.operation.name") or attributes.get("llm.request.type") or ""
    return str(operation).lower() in _CALLS


def _text(attributes: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        text = as_name(attributes.get(name))
        if text is not None:
            return text
    return None


def _any_session(attributes: dict[str, Any]) -> str | None:
    """Frameworks put their own name before ``session.id``."""
    return _text(attributes, tuple(name for name in attributes if name.endswith(".session.id")))


def _number(attributes: dict[str, Any], names: tuple[str, ...], otherwise: float | None = None) -> float | None:
    for name in names:
        number = as_number(attributes.get(name))
        if number is not None:
            return number
    return otherwise
