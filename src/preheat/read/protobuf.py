"""Protocol Buffers' wire format, as much of it as reading needs: the fields of one message, by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_LARGEST_NUMBER = (1 << 29) - 1
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Field(NamedTuple):
    """``value``: the bytes of a text or a message, or an unsigned whole number; ``wire``: how it was written."""

    number: int
    wire: int
    value: int | bytes


class Damaged(ValueError):
    """Bytes that are no message, or only a part of one."""


def fields_of(message: bytes, *, torn: bool = False) -> Iterator[Field]:
    """The fields in their order, known or not. Raises :class:`Damaged` where the bytes are no whole message.

    ``torn``: they may be the beginning of one; the last field is then given as far as it goes.
    """
    at, size = 0, len(message)
    while at < size:
        tag, at = varint(message, at)
        number, wire = tag >> 3, tag & 7
        if not 0 < number <= _LARGEST_NUMBER:
            raise Damaged("a field's number")
        value: int | bytes
        if wire == BYTES:
            length, at = varint(message, at)
            end = at + length
            if end > size and not torn:
                raise Damaged("a field that is cut")
            value = message[at:end]
        elif wire == VARINT:
            value, end = varint(message, at)
        elif wire in (FIXED64, FIXED32):
            end = at + (8 if wire == FIXED64 else 4)
            if end > size:
                raise Damaged("a number that is cut")
            value = int.from_bytes(message[at:end], "little")
        else:
            raise Damaged("a field's type")
        yield Field(number, wire, value)
        at = end


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at ``at``, seven bits a byte, and where it ends. Raises :class:`Damaged`."""
    value = shift = 0
    for place in range(at, min(at + 10, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + 1
        shift += 7
    raise Damaged("a number that is cut, or of more than ten bytes")
