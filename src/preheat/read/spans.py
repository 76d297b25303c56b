"""Spans as tools write them into JSON, with their attributes made plain.

OTLP's JSON export (``resourceSpans`` → ``scopeSpans`` → ``spans``; ``instrumentationLibrarySpans`` and Tempo's
``batches`` likewise) and its logs, a trace as ``{"spans": [...]}`` (Jaeger's ``{"data": [...]}`` too), a single span,
or nothing but a span's attributes, flat or nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.read.scalars import as_number
from preheat.read.times import seconds

_MARKS = ("gen_ai.", "llm.", "openinference.", "ai.prompt", "traceloop.")
_HEADS = ("gen_ai", "llm", "openinference", "ai", "input", "session", "user", "metadata", "traceloop", "langfuse")
"""First parts of attributes' names, under which some tools nest the rest."""
_OF_A_SPAN = {"traceId", "trace_id", "spanId", "span_id", "spanContext", "context", "events", "resource", "kind"}
_INT64 = re.compile(r"-?[0-9]{1,20}")
_DEEPEST = 12
_GROUPS = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timestamp", "time", "@timestamp")
_LOG_TIMES = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")
Attributes = dict[str, Any]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span. ``events`` are ``(name, attributes)`` in their order; times are epoch seconds.

    ``lost_attributes`` and ``lost_events``: its SDK dropped some, so that what is missing may have been there.
    """

    attributes: Attributes
    resource: Attributes = {}
    events: list[tuple[str, Attributes]] = []
    time_s: float | None = None
    end_s: float | None = None
    trace: str | None = None
    ident: str | None = None
    parent: str | None = None
    lost_attributes: bool = False
    lost_events: bool = False


def holds_spans(record: dict[str, Any]) -> bool:
    """Whether this JSON object is one of the shapes that :func:`spans_in` takes."""
    if any(isinstance(record.get(name), list) for name in (*_GROUPS, "spans")) or _jaeger_traces(record):
        return True
    return _is_span(record) or _is_attributes(record)


def spans_in(record: dict[str, Any]) -> Iterator[Span]:
    """Every span in the object, in its order; entries that are not objects are passed over."""
    listed = [record[name] for name in _GROUPS if isinstance(record.get(name), list)]
    if listed:
        for group in _objects(listed[0]):
            resource = plain(_object(group.get("resource")).get("attributes"))
            for name in _SCOPES:
                for scope in _objects(group.get(name)):
                    for span in _objects(scope.get("spans")):
                        yield span_of(span, resource)
    elif isinstance(record.get("spans"), list):
        for span in _objects(record["spans"]):
            yield span_of(span, plain(span.get("resource_attributes")))
    elif _jaeger_traces(record):
        for trace in _objects(record["data"]):
            processes = _object(trace.get("processes"))
            for span in _objects(trace.get("spans")):
                process = span.get("processID")
                yield span_of(span, plain(_object(processes.get(str(process))).get("tags")))
    elif _is_span(record):
        named = record.get("resource_attributes") or _object(record.get("resource")).get("attributes")
        yield span_of(record, plain(named))
    elif _is_attributes(record):
        yield span_of({**record, "attributes": record}, {})


def log_records_in(record: dict[str, Any]) -> Iterator[tuple[Attributes, dict[str, Any]]]:
    """``(resource, log record)`` for every record of an OTLP logs export."""
    for group in _objects(record.get("resourceLogs") or record.get("resource_logs")):
        resource = plain(_object(group.get("resource")).get("attributes"))
        for scope in _objects(group.get("scopeLogs") or group.get("scope_logs")):
            for entry in _objects(scope.get("logRecords") or scope.get("log_records")):
                yield resource, entry


def plain(attributes: Any) -> Attributes:
    """OTLP's ``[{"key", "value": {"stringValue": ...}}]``, Jaeger's tags or a plain object, as a plain object."""
    if isinstance(attributes, dict):
        return _flat(attributes)
    return {
        entry["key"]: plain_value(entry.get("value"))
        for entry in _objects(attributes)
        if isinstance(entry.get("key"), str)
    }


def _flat(attributes: Attributes) -> Attributes:
    """Attributes that are nested under the first parts of their names, with whole names."""
    nested = [name for name in _HEADS if isinstance(attributes.get(name), dict)]
    if not nested:
        return attributes
    flat = {name: value for name, value in attributes.items() if name not in nested}
    for name in nested:
        flat.update(_leaves(name, attributes[name], 0))
    return flat


def _leaves(path: str, node: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict) and depth < _DEEPEST:
        for name, inner in node.items():
            yield from _leaves(f"{path}.{name}", inner, depth + 1)
    else:
        yield path, node


def plain_value(value: Any) -> Any:
    """An ``AnyValue`` of OTLP as plain JSON; what is plain already stays as it is."""
    if not isinstance(value, dict):
        return value
    for kind, inner in value.items():
        match kind:
            case "intValue" | "int_value":
                return _whole(inner) if isinstance(inner, str) else inner
            case "arrayValue" | "array_value":
                return [plain_value(entry) for entry in _objects(_object(inner).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return plain(_object(inner).get("values"))
            case _:
                return inner
    return None


def _whole(text: str) -> int | str:
    """OTLP writes 64-bit numbers as text; anything else stays the text that it is."""
    return int(text) if _INT64.fullmatch(text) else text


def span_of(span: dict[str, Any], resource: Attributes) -> Span:
    """One span of any of the shapes."""
    context = _object(span.get("spanContext") or span.get("context"))
    events = _objects(span.get("events"))
    start = _time(span, *_STARTS, *_LOG_TIMES)
    end = _time(span, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
    attributes = span.get("attributes")
    return Span(
        attributes=plain(span.get("tags") if attributes is None else attributes),
        resource=resource,
        events=[(str(event.get("name") or ""), plain(event.get("attributes"))) for event in events],
        time_s=start,
        end_s=end,
        trace=ident_in(span, "traceId", "trace_id", "traceID") or ident_in(context, "traceId", "trace_id"),
        ident=ident_in(span, "spanId", "span_id", "spanID") or ident_in(context, "spanId", "span_id"),
        parent=ident_in(span, "parentSpanId", "parent_span_id", "parent_id") or _jaeger_parent(span),
        lost_attributes=_lost(span, "droppedAttributesCount", "dropped_attributes_count", "dropped_attributes"),
        lost_events=_lost(span, "droppedEventsCount", "dropped_events_count", "dropped_events"),
    )


def _time(span: dict[str, Any], *names: str) -> float | None:
    for name in names:
        value = span.get(name)
        if isinstance(value, list) and len(value) == 2:
            whole, fraction_ns = map(as_number, value)
            if whole is not None and fraction_ns is not None:
                return seconds(whole + fraction_ns / 1e9)
        time_s = seconds(value)
        if time_s:
            return time_s
    return None


def _lost(span: dict[str, Any], *names: str) -> bool:
    return any(isinstance(span.get(name), int) and span[name] > 0 for name in names)


def _is_span(record: dict[str, Any]) -> bool:
    """Whether it has attributes, and either they or the other fields are a span's."""
    attributes = record.get("attributes")
    if isinstance(attributes, dict):
        return bool(_OF_A_SPAN & record.keys()) or _is_attributes(attributes)
    return isinstance(attributes, list)


def _is_attributes(record: dict[str, Any]) -> bool:
    if isinstance(record.get("messages"), list):
        return False
    return any(name.startswith(_MARKS) for name in record) or any(
        isinstance(record.get(name), dict) for name in ("llm", "gen_ai")
    )


def _jaeger_traces(record: dict[str, Any]) -> bool:
    traces = record.get("data")
    return isinstance(traces, list) and any(isinstance(trace.get("spans"), list) for trace in _objects(traces))


def _jaeger_parent(span: dict[str, Any]) -> str | None:
    parents = [each for each in _objects(span.get("references")) if each.get("refType") == "CHILD_OF"]
    return ident_in(parents[0], "spanID") if parents else None


def ident_in(holder: dict[str, Any], *names: str) -> str | None:
    """The first text that is not empty under one of ``names``."""
    return next((holder[name] for name in names if isinstance(holder.get(name), str) and holder[name]), None)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
