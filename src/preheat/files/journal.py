"""An append-only journal: what was done is on disk before the next thing is begun, so that a run can resume."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from preheat.errors import BadInput
from preheat.files.atomic import PRIVATE, storage_fault, write_all

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode


class Journal:
    """JSON Lines, mode 0600, every line synced to disk when :meth:`append` returns. One writer at a time.

    A last line that is torn (the machine went down while it was written) is left out when reading, and cut off
    before the next append.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    def append(self, record: Any) -> None:
        """Add one record. Raises :class:`preheat.errors.StorageFault`; then the journal ends with the one before."""
        line = _encode(record) + b"\n"
        try:
            if self._handle is None:
                self._handle = self._open()
            end = os.lseek(self._handle, 0, os.SEEK_END)
            try:
                write_all(self._handle, line)
                os.fsync(self._handle)
            except OSError:
                os.ftruncate(self._handle, end)
                raise
        except OSError as error:
            raise storage_fault(self.path, error) from error

    def read(self, type: type[T]) -> Iterator[T]:
        """The records so far, in order; none when there is no file. Raises :class:`BadInput` for a damaged line."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise BadInput(f"cannot read {self.path}: {error.strerror}", "check the path") from error
        decoder = msgspec.json.Decoder(type)
        lines = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                if number == len(lines):
                    return
                raise BadInput(f"{self.path}:{number} is damaged: {error}", "begin again without it") from error

    def close(self) -> None:
        """Safe to call twice."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def remove(self) -> None:
        """Close the journal and delete its file, if there is one."""
        self.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _open(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
        try:
            _mend(handle)
        except BaseException:
            os.close(handle)
            raise
        return handle


def _mend(handle: int) -> None:
    """End the file with a whole line: cut a torn one off, or close one that lacks only its newline."""
    size = os.fstat(handle).st_size
    data = os.pread(handle, size, 0)
    whole = data.rfind(b"\n") + 1
    if whole == size:
        return
    try:
        msgspec.json.decode(data[whole:])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        os.ftruncate(handle, whole)
    else:
        write_all(handle, b"\n")
