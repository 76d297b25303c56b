"""What a worker does: mine a piece, merge profiles. Results are packed, since most of a profile is text."""

from __future__ import annotations

import pickle
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
import zstandard

from preheat import __version__, errors
from preheat.distributed.pieces import Piece
from preheat.errors import EngineFault, PreheatError
from preheat.mine.collection import no_collection
from preheat.mine.merge import merge
from preheat.mine.miner import NothingToLearn, mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import framed, requests_in
from preheat.read.repeats import Repeats
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport, Request

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Profile).decode


class Job(NamedTuple):
    """What all tasks have in common. ``until_s``: what comes at or after is left out; in the log's own clock."""

    rendering: Rendering
    settings: MineSettings
    until_s: float | None = None


class Mined(NamedTuple):
    """Of one piece: its packed profile (``None`` where no request could be used), and what was left out and why."""

    profile: bytes | None
    report: ReadReport
    unused: Counter[str]


def request_of(work: Callable[..., Any], *arguments: Any) -> tuple[str, bytes]:
    """The arguments of :func:`perform`: readable by any version as far as the version goes."""
    return __version__, pickle.dumps((work, arguments), protocol=5)


def perform(version: str, request: bytes) -> Any:
    """Do what another process asks for. Raises :class:`EngineFault` where the two are of different versions."""
    if version != __version__:
        raise EngineFault(
            f"the cluster's node {socket.gethostname()} has preheat {__version__}, and here is {version}",
            "install the same version on all nodes",
        )
    work, arguments = pickle.loads(request)
    try:
        return work(*arguments)
    except PreheatError as fault:  # as one that every process can unpack
        kind: type[PreheatError] = next(each for each in type(fault).__mro__ if each.__module__ == errors.__name__)
        raise kind(fault.message, fault.remedy) from None


def mine_piece(piece: Piece, job: Job) -> Mined:
    """Mine one piece; nothing is derived, and all text is kept."""
    report = ReadReport()
    try:
        with _requests(piece, report) as requests:
            wanted = (each for each in requests if _is_before(each, job.until_s))
            profile = mine(wanted, renderer_for(job.rendering), job.settings, derived=False)
    except NothingToLearn as nothing:
        return Mined(None, report, nothing.skipped)
    return Mined(pack(profile), report, Counter())


@contextmanager
def _requests(piece: Piece, report: ReadReport) -> Iterator[Iterator[Request]]:
    forced, repeats = piece.format is not None, Repeats()
    if piece.requests is not None:
        yield iter(piece.requests)
    elif piece.found is not None:
        yield requests_in(piece.reader, iter(piece.found), report, repeats, forced=forced)
    else:
        report.files += 1
        with framed(piece.file, piece.format, report, alone=False) as (reader, found):
            name = None if reader is None else reader.name
            yield iter(()) if name is None else requests_in(name, found, report, repeats, forced=forced)


def _is_before(request: Request, until_s: float | None) -> bool:
    return until_s is None or request.time_s is None or request.time_s < until_s


def merge_packed(profiles: Sequence[bytes], job: Job) -> bytes:
    """Merge without deriving."""
    with no_collection():
        return pack(merge([unpack(each) for each in profiles], job.settings, derived=False))


def pack(profile: Profile) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(_encode(profile))


def unpack(packed: bytes) -> Profile:
    return _decode(zstandard.ZstdDecompressor().decompress(packed))
