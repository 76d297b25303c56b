"""CSV and TSV: a header, then rows; told by a first line that reads as a header. Quoted cells may hold line ends."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from preheat.files.compressed import peek_head
from preheat.read.framing import UnknownFormat
from preheat.read.lines import LINE_LIMIT_BYTES, lines
from preheat.records.request import ReadReport

Row = dict[str, str]
"""Column name, as the header writes it, to cell."""
_DELIMITERS = (",", "\t", ";", "|")
_BOM = b"\xef\xbb\xbf"
_NAME = re.compile(r"[^\W\d][\w .:/@()\[\]#%-]{0,79}")
_LONE_COLUMNS = frozenset({"prompt", "messages", "request", "request_body", "body", "text", "question", "query"})
"""What the only column of a file may be called for it to be taken as a table: one word is not much of a header."""


class Dialect(msgspec.Struct, frozen=True):
    """How a file writes its cells. ``escape``: what stands before a quote inside quotes; ``None``: it is doubled."""

    delimiter: str
    escape: str | None


class CSVRows:
    """The framing of all formats that are tables of text."""

    name = "CSV rows"

    def opens(self, head: bytes) -> bool:
        return dialect_of(head) is not None

    def records(self, stream: BinaryIO, name: str, report: ReadReport) -> Iterator[tuple[str, Row]]:
        dialect = dialect_of(peek_head(stream)) or Dialect(",", None)
        return _records(_Rows(stream, name, report, dialect), name, report)


CSV_ROWS = CSVRows()


def dialect_of(head: bytes) -> Dialect | None:
    """The dialect of a file that begins so, or ``None`` where its first line is no header."""
    text = head.removeprefix(_BOM).decode("utf-8", errors="replace").lstrip("\r\n")
    first, _, rest = text.partition("\n")
    if first[:1] in ("{", "[", "") or rest.lstrip()[:1] == "{":
        return None
    names, delimiter = max(((_cells(first, each), each) for each in _DELIMITERS), key=lambda found: len(found[0]))
    if not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names):
        return None
    if len(names) == 1 and names[0].lower() not in _LONE_COLUMNS:
        return None
    escape = "\\" if re.search(r'[^"\\]\\"[^"]', rest) and '""' not in rest.replace(f'{delimiter}""', "") else None
    dialect = Dialect(delimiter, escape)
    second = rest.partition("\n")[0]
    if '"' not in second and second.strip() and len(_cells(second, delimiter)) != len(names):
        return None
    return dialect


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line.strip("\r")], delimiter=delimiter), [])]
    except csv.Error:
        return []


class _Rows:
    """Rows of a stream with the line that each began in; a row that does not parse is skipped, and its lines but the
    first are tried again, since a quote that nobody closed swallows the rows after it."""

    def __init__(self, stream: BinaryIO, name: str, report: ReadReport, dialect: Dialect) -> None:
        self._lines = lines(stream, name, report)
        self._name, self._report, self._dialect = name, report, dialect
        self._again: list[tuple[int, bytes]] = []
        self._taken: list[tuple[int, bytes]] = []
        self._bytes = 0
        self._broken = False

    def _text(self) -> Iterator[str]:
        while True:
            found = self._again.pop() if self._again else next(self._lines, None)
            if found is None:
                return
            self._taken.append(found)
            self._bytes += len(found[1])
            if self._bytes > LINE_LIMIT_BYTES:
                raise csv.Error("a row without an end")
            try:
                yield found[1].decode() + "\n"
            except UnicodeDecodeError:
                self._broken = True
                yield found[1].decode(errors="replace") + "\n"

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(LINE_LIMIT_BYTES)
        rows = self._reader()
        while True:
            self._taken, self._bytes, self._broken = [], 0, False
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error:
                self._skip("a CSV row with a quote out of place")
                self._again += reversed(self._taken[1:])
                rows = self._reader()
                continue
            if self._broken:
                self._skip("invalid UTF-8")
            elif cells:
                yield self._taken[0][0], cells

    def _reader(self) -> Iterator[list[str]]:
        dialect = self._dialect
        return csv.reader(
            self._text(),
            delimiter=dialect.delimiter,
            escapechar=dialect.escape,
            doublequote=dialect.escape is None,
            strict=True,
        )

    def _skip(self, reason: str) -> None:
        self._report.skip(f"{self._name}:{self._taken[0][0]}", reason)


def _records(rows: _Rows, name: str, report: ReadReport) -> Iterator[tuple[str, Row]]:
    numbered = iter(rows)
    header = [cell.strip() for cell in next(numbered, (0, []))[1]]
    if not header:
        return
    if len(set(header)) < len(header):
        raise UnknownFormat(f"{name} has two columns of one name", "rename one of them")
    for number, cells in numbered:
        if len(cells) == len(header):
            yield f"{name}:{number}", dict(zip(header, cells, strict=True))
        else:
            report.skip(f"{name}:{number}", "a CSV row with another number of cells than the header")
