"""The protocol of a log format, the table of formats, and reading through it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Protocol, TypeVar

from preheat.errors import BadInput
from preheat.files.compressed import STDIN, open_stream, peek_head
from preheat.files.locate import locate
from preheat.read.framing import Framing, UnknownFormat, framing_of, refuse_utf16
from preheat.read.openai_jsonl import OpenAIJsonl
from preheat.read.otlp_json import OTLPJson
from preheat.read.unreadable import MISSHAPEN, UNEXPECTED_SHAPE, Unreadable
from preheat.records.request import ReadReport, Request

Record_contra = TypeVar("Record_contra", contravariant=True)


class Reader(Protocol[Record_contra]):
    """One log format. It sees one record at a time; files, compression and lines are its framing's business."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it."""
        ...

    @property
    def framing(self) -> Framing[Any]:
        """How its records lie in a stream: ``JSON_RECORDS`` (``bytes``), or another one that tells its streams."""
        ...

    def refusal(self, record: Record_contra) -> str | None:
        """Why this record is not of this format; ``None`` when it is."""
        ...

    def requests(self, record: Record_contra, where: str, report: ReadReport) -> Iterable[Request]:
        """The requests in one record, in its order; ``where`` is ``FILE:LINE``.

        Raises :class:`Unreadable` when the whole record is to be left out. Parts of a record that are left out
        are skipped in ``report``. What the record does not say stays ``None``; a response is never a prompt.
        """
        ...


FORMATS: dict[str, Reader[Any]] = {
    "openai-jsonl": OpenAIJsonl(),
    "otlp-json": OTLPJson(),
}
"""Tried in this order when the format is not forced: of those whose framing takes the stream, the first that takes one
of its first records. What takes every stream (JSON records) comes after all that tell theirs."""

DETECTION_RECORDS = 100
"""How many records are looked at before a file counts as of no known format."""


def read_requests(paths: Sequence[str], *, format: str | None = None, report: ReadReport) -> Iterator[Request]:
    """Read the requests of all logs that ``paths`` name, in order; ``report`` is filled on the way.

    Lines that are not requests are skipped and counted with their place and reason. Ids are the log's own (else
    ``FILE:LINE``). Raises :class:`BadInput`, at once for paths and formats that cannot be, later for a file of
    unknown format or a damaged one, and at the end when there was no request at all. With several files, one of
    unknown format is skipped and counted.
    """
    if format is not None and format not in FORMATS:
        raise BadInput(f"there is no format {format!r}", f"known are {', '.join(FORMATS)}")
    return _read_files(locate(paths), format, report, ", ".join(paths))


def _read_files(files: list[str], format: str | None, report: ReadReport, named: str) -> Iterator[Request]:
    before = report.requests
    for file in files:
        report.files += 1
        yield from _read_file(file, format, report, alone=len(files) == 1)
    if report.requests == before:
        reasons = "; ".join(f"{count} x {reason}" for reason, count in report.skipped.items())
        raise BadInput(
            f"no requests in {named}" + (f": skipped {reasons}" if reasons else ": nothing in it"),
            "give a log that holds prompts, or force its format",
        )


def _read_file(file: str, format: str | None, report: ReadReport, *, alone: bool) -> Iterator[Request]:
    name = "stdin" if file == STDIN else file
    with open_stream(file) as stream:
        try:
            reader, head, rest = _framed(stream, name, format, report)
        except UnknownFormat as unknown:
            if alone:
                raise
            report.skip(name, unknown.reason)
            return
        if reader is not None:
            yield from _through(reader, iter(head), report)
            yield from _through(reader, rest, report)


Found = Iterator[tuple[str, Any]]
"""``(FILE:LINE, record)``."""


def _framed(
    stream: BinaryIO, name: str, format: str | None, report: ReadReport
) -> tuple[Reader[Any] | None, list[tuple[str, Any]], Found]:
    """Who reads the stream, the records that were looked at to tell, and those after them; nobody where it is empty."""
    beginning = peek_head(stream)
    refuse_utf16(beginning, name)
    if format is not None:
        reader = FORMATS[format]
        return reader, [], reader.framing.records(stream, name, report)
    framing = framing_of(beginning, (reader.framing for reader in FORMATS.values()))
    if framing is None:
        raise UnknownFormat(f"{name} is of no known format", f"force one with --format: {', '.join(FORMATS)}")
    rest, head = framing.records(stream, name, report), list[tuple[str, Any]]()
    return _detect(name, [each for each in FORMATS.values() if each.framing is framing], rest, head), head, rest


def _detect(name: str, readers: Sequence[Reader[Any]], found: Found, head: list[tuple[str, Any]]) -> Reader[Any] | None:
    """The first format that takes one of the first records, which land in ``head``; ``None`` for an empty file."""
    refusals: dict[str, str] = {}
    for where, record in found:
        head.append((where, record))
        for reader in readers:
            reason = _refusal(reader, record)
            if reason is None:
                return reader
            refusals.setdefault(reader.name, f"{reason} ({where})")
        if len(head) == DETECTION_RECORDS:
            break
    if not head:
        return None
    tried = "; ".join(f"{format}: {reason}" for format, reason in refusals.items())
    raise UnknownFormat(
        f"{name} is of no known format. Tried {tried}", f"force one with --format: {', '.join(FORMATS)}"
    )


def _refusal(reader: Reader[Any], record: Any) -> str | None:
    try:
        return reader.refusal(record)
    except MISSHAPEN:
        return UNEXPECTED_SHAPE


def _through(reader: Reader[Any], found: Found, report: ReadReport) -> Iterator[Request]:
    requests, name = reader.requests, reader.name
    for where, record in found:
        try:
            for request in requests(record, where, report):
                report.requests += 1
                report.formats[name] = report.formats.get(name, 0) + 1
                time_s = request.time_s
                if time_s is not None:
                    if report.first_s is None or report.last_s is None:
                        report.first_s = report.last_s = time_s
                    elif time_s > report.last_s:
                        report.last_s = time_s
                    elif time_s < report.first_s:
                        report.first_s = time_s
                yield request
        except Unreadable as why:
            report.skip(where, why.message)
        except MISSHAPEN:
            report.skip(where, UNEXPECTED_SHAPE)
