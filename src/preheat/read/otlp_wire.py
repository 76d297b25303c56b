"""OTLP's messages (traces and logs) out of Protocol Buffers, in the shape that their JSON has.

Only the fields that reading prompts needs, by their numbers in opentelemetry-proto 1.x, which are frozen. A decoder of
our own: for these few numbers the library would be a dependency of megabytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from preheat.read.protobuf import BYTES, FIXED64, VARINT, Damaged, Field, fields_of
from preheat.read.truncation import MARK

_DEEPEST = 32
_GROUP, _SCOPE, _ENTRY = 1, (2, 1000), 2
"""Field numbers on the way down; 1000 was the scopes' before 2022."""
_Kept = tuple[str, Callable[[Field], Any]]


def export_of(message: bytes, damaged: Callable[[], None]) -> dict[str, Any]:
    """``{"resourceSpans": [...]}``, ``{"resourceLogs": [...]}`` or both, attributes already plain.

    Traces and logs are told apart by their innermost messages, as their outer ones are alike. ``damaged`` is called for
    each of the innermost that cannot be decoded. Raises :class:`Damaged` for everything else that cannot.
    """
    spans: list[dict[str, Any]] = []
    logs: list[dict[str, Any]] = []
    for group in fields_of(message):
        if group.number != _GROUP:
            continue
        resource: dict[str, Any] = {}
        for field in fields_of(_bytes(group)):
            if field.number == 1:
                resource = {"attributes": _attributes(fields_of(_bytes(field)), 1)}
            elif field.number in _SCOPE:
                entries = [_bytes(entry) for entry in fields_of(_bytes(field)) if entry.number == _ENTRY]
                if any(map(_is_log_record, entries)):
                    records = _decoded(entries, _LOG_RECORD, damaged)
                    logs.append({"resource": resource, "scopeLogs": [{"logRecords": records}]})
                else:
                    scope = {"spans": _decoded(entries, _SPAN, damaged)}
                    spans.append({"resource": resource, "scopeSpans": [scope]})
    return {name: found for name, found in (("resourceSpans", spans), ("resourceLogs", logs)) if found}


def begins_export(head: bytes) -> bool:
    """Whether ``head`` is an export, or the beginning of one that reaches to its first span or log record."""
    try:
        return _reaches_an_entry(head, 3)
    except Damaged:
        return False


def _reaches_an_entry(data: bytes, levels: int) -> bool:
    for field in fields_of(data, torn=True):
        if levels == 0:
            return _begins_span(field) or _begins_log_record(field)
        if field.number not in (1, 2, 3, 1000) or field.wire != BYTES:
            return False
        if field.number in ((_GROUP,), _SCOPE, (_ENTRY,))[3 - levels]:
            return _reaches_an_entry(_bytes(field), levels - 1)
    return False


def _begins_span(field: Field) -> bool:
    return field.number == 1 and field.wire == BYTES and len(_bytes(field)) == 16


def _begins_log_record(field: Field) -> bool:
    return (field.number in (1, 11) and field.wire == FIXED64) or (field.number == 2 and field.wire == VARINT)


def _is_log_record(entry: bytes) -> bool:
    try:
        first = next(fields_of(entry, torn=True), None)
    except Damaged:
        return False
    return first is not None and not _begins_span(first) and _begins_log_record(first)


def _decoded(entries: list[bytes], kept: dict[int, _Kept], damaged: Callable[[], None]) -> list[dict[str, Any]]:
    found = []
    for entry in entries:
        try:
            found.append(_message(entry, kept))
        except Damaged:
            damaged()
    return found


def _message(data: bytes, kept: dict[int, _Kept]) -> dict[str, Any]:
    found: dict[str, Any] = {"attributes": {}, "events": []}
    for field in fields_of(data):
        if field.number in kept:
            name, read = kept[field.number]
            value = read(field)
            if name == "attributes":
                found[name].update(value)
            elif name == "events":
                found[name].append(value)
            else:
                found[name] = value
    return found


def _bytes(field: Field) -> bytes:
    if not isinstance(field.value, bytes):
        raise Damaged("a number in the place of a message")
    return field.value


def _text(field: Field) -> str:
    """Text; where its bytes are no UTF-8 (mostly because a limit cut a character), what is before, marked as cut."""
    data = _bytes(field)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode() + MARK


def _hex(field: Field) -> str:
    return _bytes(field).hex()


def _number(field: Field) -> int:
    return field.value if isinstance(field.value, int) else 0


def _one_attribute(field: Field) -> dict[str, Any]:
    return _attributes([Field(1, BYTES, field.value)], 1)


def _attributes(fields: Any, depth: int) -> dict[str, Any]:
    """``KeyValue``s (field 1 of a resource or a list of them) as an object."""
    found: dict[str, Any] = {}
    for field in fields:
        if field.number == 1:
            key, value = None, None
            for part in fields_of(_bytes(field)):
                if part.number == 1:
                    key = _text(part)
                elif part.number == 2:
                    value = _any_value(_bytes(part), depth)
            if key:
                found[key] = value
    return found


def _any_value(data: bytes, depth: int) -> Any:
    if depth > _DEEPEST:
        raise Damaged("values nested too deeply")
    value: Any = None
    for field in fields_of(data):
        match field.number:
            case 1:
                value = _text(field)
            case 2:
                value = bool(field.value)
            case 3:
                value = (_number(field) ^ 1 << 63) - (1 << 63)
            case 4:
                (value,) = struct.unpack("<d", _number(field).to_bytes(8, "little"))
            case 5:
                value = [_any_value(_bytes(each), depth + 1) for each in fields_of(_bytes(field)) if each.number == 1]
            case 6:
                value = _attributes(fields_of(_bytes(field)), depth + 1)
    return value


def _body(field: Field) -> dict[str, Any]:
    """A log record's body, wrapped as JSON has it."""
    return {"plain": _any_value(_bytes(field), 1)}


def _event(field: Field) -> dict[str, Any]:
    return _message(_bytes(field), _EVENT)


_EVENT: dict[int, _Kept] = {2: ("name", _text), 3: ("attributes", _one_attribute)}
_SPAN: dict[int, _Kept] = {
    1: ("traceId", _hex),
    2: ("spanId", _hex),
    4: ("parentSpanId", _hex),
    7: ("startTimeUnixNano", _number),
    8: ("endTimeUnixNano", _number),
    9: ("attributes", _one_attribute),
    10: ("droppedAttributesCount", _number),
    11: ("events", _event),
    12: ("droppedEventsCount", _number),
}
_LOG_RECORD: dict[int, _Kept] = {
    1: ("timeUnixNano", _number),
    5: ("body", _body),
    6: ("attributes", _one_attribute),
    7: ("droppedAttributesCount", _number),
    9: ("traceId", _hex),
    10: ("spanId", _hex),
    11: ("observedTimeUnixNano", _number),
    12: ("eventName", _text),
}
