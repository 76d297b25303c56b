"""JSON Lines files, streamed to disk, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import zstandard

from preheat.files.atomic import storage_fault


def write_lines(path: str | Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` (without line ends), compressed when the name ends in ``.zst``; how many there were.

    Mode 0600, atomic, memory flat; a symbolic link keeps pointing where it did, a device or pipe is written to as it
    is. Raises :class:`preheat.errors.StorageFault`; then nothing partial is left.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            with target.open("wb") as sink:
                return _write(sink, lines, compress=False)
        target = Path(os.path.realpath(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        return _replace(target, lines)
    except OSError as error:
        raise storage_fault(path, error) from error


def _replace(target: Path, lines: Iterable[bytes]) -> int:
    handle, name = tempfile.mkstemp(prefix=".preheat-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as sink:
            count = _write(sink, lines, compress=target.name.endswith(".zst"))
            sink.flush()
            os.fsync(handle)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count


def _write(sink: BinaryIO, lines: Iterable[bytes], *, compress: bool) -> int:
    count = 0
    with contextlib.ExitStack() as stack:
        write: Callable[[bytes], object] = sink.write
        if compress:
            packer = zstandard.ZstdCompressor(level=3).stream_writer(sink, closefd=False)
            write = stack.enter_context(packer).write
        for line in lines:
            write(line + b"\n")
            count += 1
    return count
