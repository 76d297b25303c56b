"""JSON Lines files, streamed to disk, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import zstandard

from preheat.files.atomic import storage_fault


def write_lines(path: str | Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` (without line ends), compressed when the name ends in ``.zst``; how many there were.

    Mode 0600, atomic, memory flat. Raises :class:`preheat.errors.StorageFault`; then nothing partial is left.
    """
    target = Path(path)
    count = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise storage_fault(path, error) from error
    try:
        with contextlib.ExitStack() as stack:
            sink = stack.enter_context(os.fdopen(handle, "wb"))
            write: Callable[[bytes], object] = sink.write
            if target.name.endswith(".zst"):
                write = stack.enter_context(zstandard.ZstdCompressor(level=3).stream_writer(sink, closefd=False)).write
            for line in lines:
                write(line + b"\n")
                count += 1
        Path(name).replace(target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise storage_fault(path, error) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count
