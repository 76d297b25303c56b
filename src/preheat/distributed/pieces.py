"""Logs → pieces that are mined apart. Records are framed here, once and in order, as when mining on one machine."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from preheat.files.objects import is_url, shown
from preheat.read.reader import OF_SPANS, framed, requests_in
from preheat.read.repeats import Repeats
from preheat.records.request import ReadReport, Request

T = TypeVar("T")

_SEEN_FROM_HERE_ONLY = ("file", "local", "memory")


class Piece(NamedTuple):
    """Some records of one file, or its requests; or, where there are neither, a whole object that its worker opens."""

    file: str
    format: str | None
    """As the user forced it."""
    reader: str = ""
    """The format by which the records are read."""
    found: Sequence[tuple[str, Any]] | None = None
    requests: Sequence[Request] | None = None

    @property
    def named(self) -> str:
        """For messages: the file, and from which to which line."""
        places = [where for where, _ in self.found or ()] or [each.source for each in self.requests or ()]
        if not places:
            return shown(self.file) if is_url(self.file) else self.file
        first, last = places[0], places[-1]
        return first if first == last else f"{first} to {last.rpartition(':')[2]}"


def pieces(files: Sequence[str], format: str | None, report: ReadReport, piece_bytes: int) -> Iterator[Piece]:
    """The pieces of all files, in order; ``report`` counts what is seen here. Holds one piece of the log at a time.

    Objects in a store go whole, unless there is but one: their workers read them with the store's credentials there.
    Files of spans are read here, since a span that was exported before may stand anywhere before. Raises what
    :func:`preheat.read.reader.read_requests` raises of files.
    """
    alone, repeats = len(files) == 1, Repeats()
    for file in files:
        if not alone and is_url(file) and file.split("://", 1)[0].lower() not in _SEEN_FROM_HERE_ONLY:
            yield Piece(file, format)
            continue
        report.files += 1
        with framed(file, format, report, alone=alone) as (reader, found):
            if reader is None:
                continue
            if reader.name in OF_SPANS:
                own = ReadReport()  # apart: others count into the report meanwhile
                requests = requests_in(reader.name, found, own, repeats, forced=format is not None)
                for group in _bounded(requests, piece_bytes, _pickled):
                    yield Piece(file, format, requests=group)
                report.add(own)
            else:
                for some in _bounded(found, piece_bytes, _size):
                    yield Piece(file, format, reader.name, some)


def _bounded(things: Iterator[T], piece_bytes: int, size_of: Callable[[T], int]) -> Iterator[list[T]]:
    some, held = list[T](), 0
    for each in things:
        size = size_of(each)
        if some and held + size > piece_bytes:
            yield some
            some, held = [], 0
        some.append(each)
        held += size
    if some:
        yield some


def _size(found: tuple[str, Any]) -> int:
    record = found[1]
    return len(record) if isinstance(record, bytes) else _pickled(record)


def _pickled(thing: object) -> int:
    return len(pickle.dumps(thing))
