"""Framing: how a stream of bytes falls into the records that formats are about. Told by its first bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol, TypeVar

from preheat.errors import BadInput
from preheat.records.request import ReadReport

Record_co = TypeVar("Record_co", covariant=True)
F = TypeVar("F", bound="Framing[object]")
_UTF16_REMEDY = "convert it first: iconv -f UTF-16 -t UTF-8"


class UnknownFormat(BadInput):
    """A file that no format takes. Among several files it is passed over and counted, under ``reason``."""

    def __init__(self, message: str, remedy: str, reason: str = "unknown format") -> None:
        super().__init__(message, remedy)
        self.reason = reason


class Framing(Protocol[Record_co]):
    """One way of framing records. Formats that share it name the same object, so that a stream is framed once."""

    @property
    def name(self) -> str:
        """For messages: ``JSON records``, ``CSV rows``."""
        ...

    def opens(self, head: bytes) -> bool:
        """Whether a stream that begins so is framed like this. ``head``: up to 64 KiB, less where there is less."""
        ...

    def records(self, stream: BinaryIO, name: str, report: ReadReport) -> Iterator[tuple[str, Record_co]]:
        """Yield ``(FILE:LINE, record)`` from the stream's very start; ``name`` is the file's.

        The stream may be seekable (``stream.seekable()``) or not. Lines and bytes are counted in ``report``; what is
        no record is skipped there, with its reason. Raises :class:`BadInput` where nothing further can be read.
        """
        ...


def framing_of(head: bytes, framings: Iterable[F]) -> F | None:
    """The first framing that takes a stream with this head."""
    return next((framing for framing in framings if framing.opens(head)), None)


def refuse_utf16(head: bytes, name: str) -> None:
    """Raise :class:`UnknownFormat` for text in UTF-16, with its mark or without: nothing here could be told from it."""
    marked = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    start = head[:64]
    ascii_pairs = len(start) >= 8 and (
        (not any(start[1::2]) and all(start[::2])) or (not any(start[::2]) and all(start[1::2]))
    )
    if marked or ascii_pairs:
        raise UnknownFormat(f"{name} is UTF-16 text; logs are read as UTF-8", _UTF16_REMEDY, "UTF-16 text")
