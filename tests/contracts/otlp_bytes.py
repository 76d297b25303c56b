"""OTLP messages in Protocol Buffers, written from the shape of their JSON: only what tests need of it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any


def varint(number: int) -> bytes:
    number &= 0xFFFF_FFFF_FFFF_FFFF
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(written) + bytes([number])


def field(number: int, value: bytes | int | float) -> bytes:
    """Bytes as they are, a whole number as a varint, a fraction as a double."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3) + varint(value)


def fixed64(number: int, value: int) -> bytes:
    return varint(number << 3 | 1) + value.to_bytes(8, "little")


def any_value(value: Any) -> bytes:
    match value:
        case bool():
            return field(2, int(value))
        case int():
            return field(3, value)
        case float():
            return field(4, value)
        case list():
            return field(5, b"".join(field(1, any_value(entry)) for entry in value))
        case dict():
            return field(6, attributes(1, value))
        case bytes():
            return field(1, value)
        case _:
            return field(1, str(value).encode())


def attributes(number: int, plain: dict[str, Any]) -> bytes:
    return b"".join(
        field(number, field(1, name.encode()) + field(2, any_value(value))) for name, value in plain.items()
    )


def span(ident: str, said: dict[str, Any], events: Iterable[tuple[str, dict[str, Any]]] = (), **more: int) -> bytes:
    """``ident``: a name, made an id of 8 bytes; ``more``: ``start`` and ``end`` in ns, ``lost`` attributes."""
    return b"".join(
        [
            field(1, b"t" * 16) + field(2, ident.encode().rjust(8, b"0")) + field(5, b"chat"),
            fixed64(7, more.get("start", 0)) + fixed64(8, more.get("end", 0)) + attributes(9, said),
            field(10, more.get("lost", 0)),
            *(field(11, fixed64(1, 1) + field(2, name.encode()) + attributes(3, told)) for name, told in events),
        ]
    )


def log_record(event: str, body: Any, ident: str, time_ns: int) -> bytes:
    named = field(12, event.encode())
    ids = field(9, b"t" * 16) + field(10, ident.encode().rjust(8, b"0"))
    return fixed64(1, time_ns) + field(2, 9) + field(5, any_value(body)) + ids + named


def export(*entries: bytes, resource: dict[str, Any] | None = None) -> bytes:
    """``TracesData`` of spans, or ``LogsData`` of log records."""
    scope = field(1, field(1, b"x")) + b"".join(field(2, entry) for entry in entries)
    return field(1, field(1, attributes(1, resource or {})) + field(2, scope) + field(3, b"https://schema"))
