"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from preheat.errors import StorageFault

PRIVATE = 0o600


def write_text(path: str | Path, text: str, mode: int = PRIVATE) -> None:
    """Write ``text`` as UTF-8; see :func:`write_bytes`."""
    write_bytes(path, text.encode(), mode)


def write_bytes(path: str | Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write ``data`` to a temporary file beside ``path``, sync it, and move it into place with ``mode``.

    Parent folders are made; a symbolic link keeps pointing where it did; a device or pipe (``/dev/stdout``) is
    written to as it is. Raises :class:`StorageFault` naming the path and a remedy. Whatever happens, an
    interrupt included, the temporary file is removed and an earlier file is left as it was.
    """
    target = Path(path)
    try:
        if _is_special(target):
            target.write_bytes(data)
            return
        target = Path(os.path.realpath(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data, mode)
    except OSError as error:
        raise storage_fault(path, error) from error


def storage_fault(path: str | Path, error: OSError) -> StorageFault:
    """What went wrong when writing to ``path``, and what to do about it."""
    remedies = {
        errno.ENOSPC: "free some space or choose another place with -o",
        errno.EDQUOT: "free some of your quota or choose another place with -o",
        errno.EACCES: "choose a place that you may write to, with -o",
        errno.EPERM: "choose a place that you may write to, with -o",
        errno.EROFS: "the file system is read-only: choose another place with -o",
        errno.EISDIR: "that is a folder: name a file in it",
        errno.ENOTDIR: "a part of the path is a file: choose another place with -o",
        errno.EEXIST: "a part of the path is a file: choose another place with -o",
        errno.ENAMETOOLONG: "use a shorter name",
    }
    reason = error.strerror or str(error)
    return StorageFault(f"cannot write {path}: {reason}", remedies.get(error.errno or 0, "check the disk and the path"))


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return not stat.S_ISREG(mode)


def _replace(target: Path, data: bytes, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".preheat-", suffix=".tmp", dir=target.parent)
    try:
        try:
            write_all(handle, data)
            os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    _sync_folder(target.parent)


def write_all(handle: int, data: bytes) -> None:
    """Write all of ``data`` to a file descriptor; a single write may take less than it was given."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a power cut. Not every file system can; the data itself is safe by now."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
