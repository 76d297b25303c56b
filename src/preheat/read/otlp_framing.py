"""Files of OTLP messages in Protocol Buffers: how they are laid out is told by how they begin.

The OpenTelemetry Collector's file exporter writes each message after its length in four bytes (big-endian), and may
compress each with zstd; then it writes JSON like this too. ``writeDelimitedTo`` and OpenTelemetry's file exporters
write the length as a varint. A file may also be one message and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import zstandard

from preheat.read.otlp_wire import begins_export
from preheat.read.protobuf import Damaged, varint
from preheat.records.request import ReadReport

MESSAGE_LIMIT_BYTES = 64 << 20
"""A longer message is left out, with its reason."""
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPED_BYTES = 1 << 20
_PIECE_BYTES = 4096
"""Compressed bytes unpacked at a time: small, so that even a bomb unpacks in bounded steps."""


class OTLPMessages:
    """The framing; see the module."""

    name = "OTLP messages"

    def opens(self, head: bytes) -> bool:
        return _layout(head) is not None

    def records(self, stream: BinaryIO, name: str, report: ReadReport) -> Iterator[tuple[str, bytes]]:
        """``FILE:NUMBER`` of the message, from 1."""
        counted = _Counted(stream, report)
        layout = _layout(counted.head())
        if layout == "one":
            data = counted.take(MESSAGE_LIMIT_BYTES + 1)
            yield from _kept(data, len(data), f"{name}:1", report)
            return
        number = 0
        while (size := counted.four_bytes() if layout != "varint" else counted.varint()) is not None:
            number += 1
            place = f"{name}:{number}"
            if size > MESSAGE_LIMIT_BYTES:
                counted.skip(size)
                yield from _kept(b"", size, place, report)
            else:
                yield from _kept(counted.take(size), size, place, report)


OTLP_MESSAGES = OTLPMessages()


def _layout(head: bytes) -> str | None:
    """``four bytes``, ``varint`` or ``one``; ``None`` for a file that holds no OTLP messages."""
    size = int.from_bytes(head[:4], "big")
    if len(head) > 4 and 0 < size <= MESSAGE_LIMIT_BYTES:
        first = head[4 : 4 + size]
        if first.startswith((_ZSTD, b'{"resource')) or begins_export(first):
            return "four bytes"
    try:
        size, start = varint(head, 0)
    except Damaged:
        return None
    if 0 < size <= MESSAGE_LIMIT_BYTES and begins_export(head[start : start + size]):
        return "varint"
    return "one" if begins_export(head) else None


def _kept(data: bytes, size: int, place: str, report: ReadReport) -> Iterator[tuple[str, bytes]]:
    """The message, unpacked, unless it is cut, too large or damaged."""
    report.lines += 1
    if size <= MESSAGE_LIMIT_BYTES and len(data) < size:
        report.skip(place, "a message that is cut")
        return
    if data.startswith(_ZSTD):
        try:
            data = _unpacked(data)
        except zstandard.ZstdError:
            report.skip(place, "a message whose compression is damaged")
            return
        size = len(data)
    if size > MESSAGE_LIMIT_BYTES:
        report.skip(place, f"message over {MESSAGE_LIMIT_BYTES >> 20} MiB")
    else:
        yield place, data


def _unpacked(data: bytes) -> bytes:
    """The contents, or as much as shows that there are too many. Raises :class:`zstandard.ZstdError`."""
    unpacker, pieces, size = zstandard.ZstdDecompressor().decompressobj(), list[bytes](), 0
    for at in range(0, len(data), _PIECE_BYTES):
        pieces.append(unpacker.decompress(data[at : at + _PIECE_BYTES]))
        size += len(pieces[-1])
        if unpacker.eof or size > MESSAGE_LIMIT_BYTES:
            return b"".join(pieces)
    raise zstandard.ZstdError("it ends too early")


class _Counted:
    """A stream whose bytes are counted, and whose beginning can be looked at."""

    def __init__(self, stream: BinaryIO, report: ReadReport) -> None:
        self._stream, self._report = stream, report
        self._ahead = b""

    def head(self) -> bytes:
        self._ahead = self._stream.read(64 << 10)
        return self._ahead

    def take(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        data = self._ahead[:size]
        self._ahead = self._ahead[size:]
        if len(data) < size:
            data += self._stream.read(size - len(data))
        self._report.bytes += len(data)
        return data

    def skip(self, size: int) -> None:
        while size > 0 and (got := len(self.take(min(size, _SKIPPED_BYTES)))):
            size -= got

    def four_bytes(self) -> int | None:
        data = self.take(4)
        return int.from_bytes(data.ljust(4, b"\0"), "big") if data else None

    def varint(self) -> int | None:
        data = b""
        while (byte := self.take(1)) and len(data) < 10:
            data += byte
            if byte < b"\x80":
                return varint(data, 0)[0]
        return None if not data else MESSAGE_LIMIT_BYTES + 1
