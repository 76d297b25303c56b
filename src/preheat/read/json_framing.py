"""From a stream of bytes to JSON records: one per line, or the parts of one JSON document."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from preheat.read.lines import batches
from preheat.records.request import ReadReport

DOCUMENT_LIMIT_BYTES = 512 << 20
"""A JSON document over many lines has to be held whole; a larger one is left out."""
_elements = msgspec.json.Decoder(list[msgspec.Raw])
_any = msgspec.json.Decoder()


def records(stream: BinaryIO, name: str, report: ReadReport) -> Iterator[tuple[str, bytes]]:
    """Yield ``(FILE:LINE, JSON bytes)`` for every record; not yet checked to be JSON.

    A line that is a JSON list is a list of records. Documents spread over several lines (pretty-printed) are one record
    each, or one for each element of their list. Counts lines and bytes; lines over the limit are skipped.
    """
    numbered = (
        (number, line)
        for first_number, several in batches(stream, name, report)
        for number, raw in enumerate(several, first_number)
        if (line := raw.strip())
    )
    first, second = next(numbered, None), next(numbered, None)
    if first is None:
        return
    if second is not None and _opens_document(first[1], second[1]):
        for number, document in _documents(itertools.chain((first, second), numbered)):
            if document is None:
                report.skip(name, f"JSON document over {DOCUMENT_LIMIT_BYTES >> 20} MiB")
            else:
                yield from _split(f"{name}:{number}", document)
        return
    for head in (first, second):
        if head is not None:
            yield from _split(f"{name}:{head[0]}", head[1])
    for number, line in numbered:
        if line[0] == 0x5B:  # [
            yield from _split(f"{name}:{number}", line)
        else:
            yield f"{name}:{number}", line


def _opens_document(first: bytes, second: bytes) -> bool:
    """Whether the first two lines are the beginning of one JSON document, and not two records."""
    if first in (b"[", b"{"):
        return True
    return first[:1] in (b"[", b"{") and not _is_json(first) and not _is_json(second)


def _is_json(text: bytes) -> bool:
    try:
        _any.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    except RecursionError:  # too deep to tell; taken as a record of its own, which the format then refuses
        return True
    return True


def _documents(numbered: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes | None]]:
    """Documents over many lines, one after the other (as OpenTelemetry's console exporters write them), each with the
    number of its first line; ``None`` for one over the limit.

    One ends where a closing bracket is followed by a line with an opening one: within a document a comma would stand
    between them.
    """
    parts, size, start, last = list[bytes](), 0, 0, b""
    for number, line in numbered:
        if last[-1:] in (b"}", b"]") and line[:1] in (b"{", b"["):
            yield start, b"\n".join(parts) if parts else None
            parts, size = [], 0
        if not size:
            start = number
        size += len(line) + 1
        if size > DOCUMENT_LIMIT_BYTES:
            parts.clear()
        else:
            parts.append(line)
        last = line
    yield start, b"\n".join(parts) if parts else None


def _split(where: str, record: bytes) -> Iterator[tuple[str, bytes]]:
    if record[:1] != b"[":
        yield where, record
        return
    try:
        elements = _elements.decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        yield where, record
        return
    for index, element in enumerate(elements):
        yield f"{where}[{index}]", bytes(element)


class JSONRecords:
    """The framing of all JSON formats, and of anything that no other framing takes."""

    name = "JSON records"

    def opens(self, head: bytes) -> bool:
        return True

    def records(self, stream: BinaryIO, name: str, report: ReadReport) -> Iterator[tuple[str, bytes]]:
        return records(stream, name, report)


JSON_RECORDS = JSONRecords()
