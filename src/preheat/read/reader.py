"""The protocol of a log format, the table of formats, and reading through it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, TypeVar

from preheat.errors import BadInput
from preheat.files.compressed import STDIN, Damaged, open_stream, peek_head
from preheat.files.locate import locate
from preheat.read.anthropic import AnthropicMessages
from preheat.read.azure_csv import AzureCSV
from preheat.read.bailian import Bailian
from preheat.read.burstgpt_csv import BurstGPTCSV
from preheat.read.csv_framing import CSV_ROWS
from preheat.read.framing import Framing, UnknownFormat, framing_of, refuse_utf16
from preheat.read.langfuse import Langfuse, LangfuseRows
from preheat.read.litellm import LiteLLM
from preheat.read.mooncake import Mooncake
from preheat.read.oddities import Oddities
from preheat.read.openai_jsonl import OpenAIJsonl
from preheat.read.otlp_json import OTLPJson
from preheat.read.otlp_proto import OTLPProto
from preheat.read.parquet_table import ParquetTable
from preheat.read.preheat_requests import PreheatRequests
from preheat.read.recorded_calls import RecordedCalls
from preheat.read.repeats import Repeats
from preheat.read.servegen import ServeGenLengths, ServeGenRates
from preheat.read.sharegpt import ShareGPT
from preheat.read.tables import Table
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


JSON_FORMATS: dict[str, Reader[bytes]] = {
    "preheat-requests": PreheatRequests(),
    "mooncake": Mooncake(),
    "bailian": Bailian(),
    "servegen-lengths": ServeGenLengths(),
    "sharegpt": ShareGPT(),
    "litellm": LiteLLM(),
    "api-calls": RecordedCalls(),
    "langfuse": Langfuse(),
    "anthropic-messages": AnthropicMessages(),
    "otlp-json": OTLPJson(),
    "openai-jsonl": OpenAIJsonl(),
}
"""Those that are told by what only they have come first."""
_NESTED = tuple(reader for name, reader in JSON_FORMATS.items() if name not in ("openai-jsonl", "preheat-requests"))

FORMATS: dict[str, Reader[Any]] = {
    "parquet": ParquetTable(_NESTED),
    "otlp-proto": OTLPProto(),
    "azure-csv": AzureCSV(),
    "burstgpt-csv": BurstGPTCSV(),
    "servegen-rates": ServeGenRates(),
    "langfuse-csv": LangfuseRows(),
    "csv": Table("csv", CSV_ROWS),
    **JSON_FORMATS,
}
"""Tried in this order when the format is not forced: of those whose framing takes the stream, the first that takes one
of its first records. What takes every stream (JSON records) comes after all that tell theirs."""

OF_SPANS = frozenset({"langfuse", "langfuse-csv", "otlp-json", "otlp-proto"})
"""Formats whose requests are named by their spans, so that the same name again is the same call."""

_REMEDY = f"docs/formats.md describes the {len(FORMATS)} that are known; --format NAME forces one"
_OWN_REMEDY = "give the log; a profile goes to plan, merge or mine, a plan to warm"
_OWN_SCHEMA = re.compile(rb'\s*\{\s*"schema"\s*:\s*"(preheat\.[a-z]+)"')
_NO_UTF8 = "invalid UTF-8"
ICONV = "convert it first: iconv -f LATIN1 -t UTF-8"
DETECTION_RECORDS = 100
"""How many records are looked at before a file counts as of no known format."""


def read_requests(paths: Sequence[str], *, format: str | None = None, report: ReadReport) -> Iterator[Request]:
    """Read the requests of all logs that ``paths`` name, in order; ``report`` is filled on the way.

    Lines that are not requests are skipped and counted with their place and reason. Ids are the log's own (else
    ``FILE:LINE``). Raises :class:`BadInput`, at once for paths and formats that cannot be, later for a file of
    unknown format or a damaged one, and at the end when there was no request at all. With several files, one of
    unknown format is skipped and counted, and so is what follows the damage in one that cannot be decompressed whole.
    """
    refuse_format(format)
    return _read_files(locate(paths), format, report, ", ".join(paths))


def refuse_format(format: str | None) -> None:
    """Raise :class:`BadInput` where there is no such format."""
    if format is not None and format not in FORMATS:
        raise BadInput(f"there is no format {format!r}", f"known are {', '.join(FORMATS)}")


def _read_files(files: list[str], format: str | None, report: ReadReport, named: str) -> Iterator[Request]:
    before, oddities, repeats = report.requests, Oddities(report), Repeats()
    forced = format is not None
    try:
        for file in files:
            report.files += 1
            oddities.next_file()
            with framed(file, format, report, alone=len(files) == 1) as (reader, found):
                if reader is not None:
                    yield from _through(reader, found, report, oddities, repeats, forced=forced)
    finally:
        oddities.end()
    if report.requests == before:
        raise no_requests(report, named)


def no_requests(report: ReadReport, named: str) -> BadInput:
    """What to say of logs, ``named``, that were read to their end and held no request at all."""
    reasons = "; ".join(f"{count} x {reason}" for reason, count in report.skipped.items())
    return BadInput(
        f"no requests in {named}" + (f": skipped {reasons}" if reasons else ": nothing in it"),
        ICONV if _NO_UTF8 in report.skipped else "give a log that holds prompts, or force its format",
    )


@contextmanager
def framed(
    file: str, format: str | None, report: ReadReport, *, alone: bool
) -> Iterator[tuple[Reader[Any] | None, Found]]:
    """A file's format and its records, for as long as the context lasts.

    No format for an empty file, and for one of unknown format; that one is skipped and counted, or, where the file
    is ``alone``, raises :class:`UnknownFormat`. So with :class:`Damaged`, from where a file cannot be decompressed.
    """
    name = "stdin" if file == STDIN else file
    with open_stream(file) as stream:
        before = report.lines
        try:
            reader, head, rest = _framed(stream, name, format, report)
        except (UnknownFormat, Damaged) as refused:
            if alone:
                raise
            report.skip(name, refused.reason, first=isinstance(refused, Damaged))
            reader, head, rest = None, [], iter(())
        yield reader, itertools.chain(head, rest if alone else _until_damaged(rest, name, before, report))


def _until_damaged(found: Found, name: str, before: int, report: ReadReport) -> Found:
    """The records up to where the file cannot be decompressed any further, if anywhere. ``before``: lines then."""
    try:
        yield from found
    except Damaged as damage:
        report.skip(f"{name}:{report.lines - before + 1}", damage.reason, first=True)


def requests_in(reader: str, found: Found, report: ReadReport, repeats: Repeats, *, forced: bool) -> Iterator[Request]:
    """The requests of some records that :func:`framed` gave, of the format named ``reader``.

    As :func:`read_requests` would give them there; what is odd, and what is repeated, is seen as far as ``report`` and
    ``repeats`` know of it.
    """
    oddities = Oddities(report)
    try:
        yield from _through(FORMATS[reader], found, report, oddities, repeats, forced=forced)
    finally:
        oddities.end()


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
        raise UnknownFormat(f"{name} is of no known format", _REMEDY)
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
            refusals.setdefault(reader.name, " ".join(reason.split()))
        if len(head) == DETECTION_RECORDS:
            break
    if not head:
        return None
    if own := _own_schema(head[0][1]):
        raise UnknownFormat(f"{name} is a file of Preheat's own ({own}), not a log", _OWN_REMEDY)
    line, last = head[0][0].removeprefix(f"{name}:"), readers[-1].name
    if _NO_UTF8 in refusals.values():
        raise UnknownFormat(f"{name} is not UTF-8, see line {line}", ICONV, "not UTF-8")
    raise UnknownFormat(
        f"{name} is of no known format: none of {len(refusals)} takes line {line}, {last}: {refusals[last]}", _REMEDY
    )


def _own_schema(record: Any) -> str:
    """Which of Preheat's own files begins with this record, if any does."""
    found = _OWN_SCHEMA.match(record) if isinstance(record, bytes) else None
    return found[1].decode() if found else ""


def _refusal(reader: Reader[Any], record: Any) -> str | None:
    try:
        return reader.refusal(record)
    except MISSHAPEN:
        return UNEXPECTED_SHAPE


def _through(
    reader: Reader[Any], found: Found, report: ReadReport, oddities: Oddities, repeats: Repeats, *, forced: bool
) -> Iterator[Request]:
    """All requests of the records, each looked at for what is odd; a call that was there before is left out. A record
    that the file's own format refuses is offered to the others of the same framing, unless it was ``forced``."""
    others = () if forced else tuple(each for each in FORMATS.values() if each.framing is reader.framing)
    read, look, count = reader.requests, oddities.look, 0
    known = repeats if reader.name in OF_SPANS else None
    try:
        for where, record in found:
            try:
                for request in read(record, where, report):
                    if known is not None and (reason := known.reason(request)) is not None:
                        report.skip(request.source, reason)
                        continue
                    count += 1
                    report.requests += 1
                    look(request, record if known is None else None)  # an export of many spans is not one's record
                    yield request
            except Unreadable as why:
                other = _other(reader, others, record)
                if other is None:
                    report.skip(where, why.message)
                else:
                    yield from _through(other, iter(((where, record),)), report, oddities, repeats, forced=True)
            except MISSHAPEN:
                report.skip(where, UNEXPECTED_SHAPE)
    finally:
        if count:
            report.formats[reader.name] = report.formats.get(reader.name, 0) + count


def _other(own: Reader[Any], others: Sequence[Reader[Any]], record: Any) -> Reader[Any] | None:
    """Who else takes a record that is not of its file's own format; nobody where it is, and only cannot be read."""
    if not others or _refusal(own, record) is None:
        return None
    return next((each for each in others if each is not own and _refusal(each, record) is None), None)
