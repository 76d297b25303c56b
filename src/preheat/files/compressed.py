"""Opening a file whatever its compression: told by its first bytes, not by its name."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import zstandard

from preheat.errors import BadInput
from preheat.files.objects import is_url, open_object, shown

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Damaged(BadInput):
    """A compressed file that is cut off or corrupt. Among several files, what comes before the damage is kept."""

    def __init__(self, message: str, remedy: str, reason: str) -> None:
        super().__init__(message, remedy)
        self.reason = reason


STDIN = "-"
REST = "the rest of a"
"""How the reason begins why a damaged file was not read to its end."""
HEAD_BYTES = 64 << 10
"""What :func:`peek_head` shows of a stream's beginning."""
_BUFFER_BYTES = 1 << 20
_ZSTD_PIECE_BYTES = 4096
"""Compressed bytes decompressed at a time: small, so that even a bomb unpacks in bounded steps."""


def open_stream(path: str) -> BinaryIO:
    """Open ``path`` (``-``: standard input) for reading decompressed bytes: gz, zst, xz or plain.

    A plain file stays seekable. Raises :class:`BadInput` for a file that is missing or unreadable, and, from any later
    read, for one that is truncated or corrupt; the message names the file.
    """
    raw = _opened(path)
    name = "standard input" if path == STDIN else shown(path) if is_url(path) else path
    source = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(Any, raw))
    try:
        magic = source.peek(6)[:6]
    except OSError as error:
        source.close()
        raise BadInput(f"cannot read {name}: {error.strerror}", "name a file, or a folder of files") from error
    kind, inner = _decompressor(magic, source)
    guarded = _Guarded(inner, source, kind, name, close=None if path == STDIN else raw.close)
    return cast(BinaryIO, io.BufferedReader(guarded, _BUFFER_BYTES))


def _opened(path: str) -> BinaryIO:
    if path == STDIN:
        return sys.stdin.buffer
    if is_url(path):
        return open_object(path)
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot read {path}: {reason}", "check the path and its permissions") from error


def peek_head(stream: BinaryIO) -> bytes:
    """The first :data:`HEAD_BYTES` of an unread stream of :func:`open_stream`, or all there is; they stay unread."""
    peek = getattr(stream, "peek", None)
    return bytes(peek(HEAD_BYTES)[:HEAD_BYTES]) if peek else b""


def _decompressor(magic: bytes, source: io.BufferedReader) -> tuple[str, Any]:
    if magic.startswith(b"\x1f\x8b"):
        return "gzip", _gzip(source)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd", _Zstd(source)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return "xz", lzma.LZMAFile(source)
    return "plain", source


def _gzip(source: io.BufferedReader) -> Any:
    """ISA-L's gzip reader, about twice as fast as zlib's; the standard one where it is not installed."""
    try:
        from isal import igzip
    except ImportError:
        return gzip.GzipFile(fileobj=source)
    reader: Any = igzip.IGzipFile
    return reader(fileobj=source)


class _Zstd:
    """Zstandard, any number of frames. ``stream_reader`` takes a truncated frame for the end; this does not."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._ready:
            piece = self._source.read(_ZSTD_PIECE_BYTES)
            if not piece:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            self._ready = memoryview(self._decompress(piece))
        view = memoryview(buffer)
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decompress(self, piece: bytes) -> bytes:
        out = []
        while piece:
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            out.append(self._frame.decompress(piece))
            if not self._frame.eof:
                break
            piece, self._frame = self._frame.unused_data, None
        return b"".join(out)


class _UpToDamage:
    """A truncated gzip file once more, from after its first ``given`` bytes, to the very end of its data: a reader that
    fills whole buffers loses what is in the last one."""

    def __init__(self, source: io.BufferedReader, given: int) -> None:
        source.seek(0)
        self._file = gzip.GzipFile(fileobj=source)
        while given and (skipped := self._file.read1(min(given, _BUFFER_BYTES))):
            given -= len(skipped)

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._file.readinto1(buffer)


class _Guarded(io.RawIOBase):
    """Turns a decompressor's own exceptions into :class:`BadInput` that names the file."""

    def __init__(
        self, inner: Any, source: io.BufferedReader, kind: str, name: str, close: Callable[[], None] | None
    ) -> None:
        super().__init__()
        self._inner, self._kind, self._name, self._close = inner, kind, name, close
        self._source, self._given = source, 0
        self._begun = False
        self._late: BadInput | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._kind == "plain" and bool(self._inner.seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self.seekable():
            raise io.UnsupportedOperation("seek")
        return int(self._inner.seek(offset, whence))

    def readinto(self, buffer: WriteableBuffer) -> int:
        """The first read gives the whole head, though it come in pieces (a pipe), or with damage after it."""
        if self._late is not None:
            raise self._late
        view = memoryview(buffer)
        size = self._read(view)
        if not self._begun:
            self._begun = True
            try:
                while 0 < size < min(HEAD_BYTES, len(view)) and (more := self._read(view[size:])):
                    size += more
            except BadInput as error:
                self._late = error
        return size

    def _read(self, buffer: memoryview) -> int:
        try:
            size = int(self._inner.readinto(buffer))
            self._given += size
            return size
        except EOFError as error:
            if self._kind == "gzip" and not isinstance(self._inner, _UpToDamage) and self._source.seekable():
                self._inner = _UpToDamage(self._source, self._given)
                return self._read(buffer)
            raise Damaged(
                f"{self._name} is a truncated {self._kind} file: it ends in the middle of the data",
                "copy or compress it again, and wait until its writer has closed it",
                f"{REST} truncated {self._kind} file",
            ) from error
        except (lzma.LZMAError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError, ValueError) as error:
            raise Damaged(
                f"{self._name} is a corrupt {self._kind} file: {error}",
                "copy or compress it again",
                f"{REST} corrupt {self._kind} file",
            ) from error
        except OSError as error:
            raise BadInput(
                f"cannot read {self._name}: {error.strerror or error}", "check the file and its disk"
            ) from error

    def close(self) -> None:
        if not self.closed and self._close is not None:
            self._close()
        super().close()
