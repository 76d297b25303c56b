"""OpenTelemetry traces and logs in JSON: the requests are those calls of a model that kept their prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from preheat.read import gen_ai
from preheat.read.flat_attributes import NO_BEGINNING
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.log_events import spans_of_logs
from preheat.read.nested_calls import AROUND, Seen, around_others
from preheat.read.openai_odd import decode_object
from preheat.read.span_fields import fields_of
from preheat.read.spans import Span, holds_spans, spans_in
from preheat.read.unreadable import MISSHAPEN, UNEXPECTED_SHAPE, Unreadable
from preheat.records.request import ReadReport, Request

NAME = "otlp-json"
NO_SPANS = "no spans, and no gen_ai attributes"
_CALLS = ("chat", "text_completion", "generate_content", "completion", "")
_KINDS = ("llm", "generation")
_VERCEL_OTHERS = ("ai.embed", "ai.toolcall", "ai.rerank", "ai.generateimage", "ai.transcribe", "ai.generatespeech")


class OTLPJson:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            whole = decode_object(record)
        except Unreadable as why:
            return why.message
        return None if holds_spans(whole) else NO_SPANS

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        whole = decode_object(record)
        if not holds_spans(whole):
            raise Unreadable(NO_SPANS)
        return requests_in(whole, where, report)


def requests_in(export: dict[str, Any], where: str, report: ReadReport) -> Iterator[Request]:
    """The requests of one export (of spans, of logs); what is none is skipped in ``report``, span by span."""
    spans = [*spans_in(export), *spans_of_logs(export)]
    found: list[tuple[str, Request | None]] = []
    for number, span in enumerate(spans):
        place = where if len(spans) == 1 else f"{where}#{number}"
        try:
            request = request_of(span, place)
        except Unreadable as why:
            report.skip(place, why.message)
            request = None
        except MISSHAPEN:
            report.skip(place, UNEXPECTED_SHAPE)
            request = None
        found.append((place, request))
    outer = around_others([seen(span) if found[number][1] else None for number, span in enumerate(spans)])
    for number, (place, request) in enumerate(found):
        if number in outer:
            report.skip(place, AROUND)
        elif request is not None:
            yield request


def seen(span: Span) -> Seen:
    """The span as :mod:`preheat.read.nested_calls` compares it."""
    return Seen(span.trace, span.ident, span.parent, span.time_s, span.end_s)


def request_of(span: Span, where: str) -> Request:
    """The request of one span. Raises :class:`Unreadable` with the reason why there is none."""
    if not _is_model_call(span.attributes):
        raise Unreadable("a span that is not a model call")
    found = gen_ai.asked(span)
    if found is None:
        raise Unreadable("a span without a prompt")
    if found.messages and found.messages[0].role == "tool":
        raise Unreadable(NO_BEGINNING)
    return Request(
        id="-".join(filter(None, (span.trace, span.ident))) if span.ident else where,
        messages=found.messages,
        prompt=found.prompt,
        tools=gen_ai.tools(span) or found.tools,
        truncated=found.truncated,
        source=where,
        **fields_of(span, found.given),
    )


def _is_model_call(attributes: dict[str, Any]) -> bool:
    kind = (
        attributes.get("openinference.span.kind")
        or attributes.get("traceloop.span.kind")
        or attributes.get("langfuse.observation.type")
    )
    if isinstance(kind, str) and kind.lower() not in _KINDS:
        return False
    if str(attributes.get("ai.operationId") or "").lower().startswith(_VERCEL_OTHERS):
        return False
    operation = attributes.get("gen_ai.operation.name") or attributes.get("llm.request.type") or ""
    return str(operation).lower() in _CALLS
