"""Spans as tools write them into JSON, with their attributes made plain.

OTLP's JSON export (``resourceSpans`` → ``scopeSpans`` → ``spans``; ``instrumentationLibrarySpans`` and Tempo's
``batches`` likewise), a trace as ``{"spans": [...]}``, a single span, or nothing but a span's attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.read.scalars import as_number
from preheat.read.times import seconds

_MARKS = ("gen_ai.", "llm.", "openinference.", "ai.prompt")
_INT64 = re.compile(r"-?[0-9]{1,20}")
Attributes = dict[str, Any]


class Span(msgspec.Struct, frozen=True):
    """One span. ``events`` are ``(name, attributes)`` in their order; ``time_s`` is its start, epoch seconds."""

    attributes: Attributes
    resource: Attributes
    events: list[tuple[str, Attributes]]
    time_s: float | None
    trace: str | None
    ident: str | None
    parent: str | None


def holds_spans(record: dict[str, Any]) -> bool:
    """Whether this JSON object is one of the shapes that :func:`spans_in` takes."""
    if any(isinstance(record.get(name), list) for name in ("resourceSpans", "resource_spans", "batches", "spans")):
        return True
    return isinstance(record.get("attributes"), dict | list) or _is_attributes(record)


def spans_in(record: dict[str, Any]) -> Iterator[Span]:
    """Every span in the object, in its order; entries that are not objects are passed over."""
    groups = record.get("resourceSpans") or record.get("resource_spans") or record.get("batches")
    if isinstance(groups, list):
        for group in _objects(groups):
            resource = plain(_object(group.get("resource")).get("attributes"))
            scopes = group.get("scopeSpans") or group.get("scope_spans") or group.get("instrumentationLibrarySpans")
            for scope in _objects(scopes):
                for span in _objects(scope.get("spans")):
                    yield _span(span, resource)
    elif isinstance(record.get("spans"), list):
        for span in _objects(record["spans"]):
            yield _span(span, plain(span.get("resource_attributes")))
    elif isinstance(record.get("attributes"), dict | list):
        yield _span(
            record, plain(record.get("resource_attributes") or _object(record.get("resource")).get("attributes"))
        )
    elif _is_attributes(record):
        yield Span(record, {}, [], None, None, None, None)


def plain(attributes: Any) -> Attributes:
    """OTLP's ``[{"key", "value": {"stringValue": ...}}]``, or a plain object, as a plain object."""
    if isinstance(attributes, dict):
        return attributes
    return {
        entry["key"]: _value(entry.get("value")) for entry in _objects(attributes) if isinstance(entry.get("key"), str)
    }


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for kind, inner in value.items():
        match kind:
            case "intValue" | "int_value":
                return _whole(inner) if isinstance(inner, str) else inner
            case "arrayValue" | "array_value":
                return [_value(entry) for entry in _objects(_object(inner).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return plain(_object(inner).get("values"))
            case _:
                return inner
    return None


def _whole(text: str) -> int | str:
    """OTLP writes 64-bit numbers as text; anything else stays the text that it is."""
    return int(text) if _INT64.fullmatch(text) else text


def _span(span: dict[str, Any], resource: Attributes) -> Span:
    context = _object(span.get("spanContext") or span.get("context"))
    events = _objects(span.get("events"))
    return Span(
        attributes=plain(span.get("attributes")),
        resource=resource,
        events=[(str(event.get("name") or ""), plain(event.get("attributes"))) for event in events],
        time_s=_start(span),
        trace=_first_text(span, "traceId", "trace_id") or _first_text(context, "traceId", "trace_id"),
        ident=_first_text(span, "spanId", "span_id") or _first_text(context, "spanId", "span_id"),
        parent=_first_text(span, "parentSpanId", "parent_span_id", "parent_id"),
    )


def _start(span: dict[str, Any]) -> float | None:
    for name in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timestamp"):
        value = span.get(name)
        if isinstance(value, list) and len(value) == 2:
            whole, fraction_ns = map(as_number, value)
            if whole is not None and fraction_ns is not None:
                return seconds(whole + fraction_ns / 1e9)
        time_s = seconds(value)
        if time_s:
            return time_s
    return None


def _is_attributes(record: dict[str, Any]) -> bool:
    return any(name.startswith(_MARKS) for name in record)


def _first_text(holder: dict[str, Any], *names: str) -> str | None:
    return next((holder[name] for name in names if isinstance(holder.get(name), str) and holder[name]), None)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
