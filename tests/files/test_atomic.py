"""A file is written whole or not at all. Disk full is simulated by an ``os.write`` that fails half-way."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from preheat.errors import StorageFault
from preheat.files.atomic import write_bytes, write_text

REAL_WRITE = os.write


def _full_after(limit: int) -> Callable[[int, bytes], int]:
    left = [limit]

    def write(handle: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = REAL_WRITE(handle, bytes(data)[: left[0]])
        left[0] -= written
        return written

    return write


def _fail(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "f", "old")
    monkeypatch.setattr(os, "write", _full_after(10))
    with pytest.raises(StorageFault, match="No space left on device") as caught:
        write_text(tmp_path / "f", "new and longer than ten bytes")
    assert str(tmp_path / "f") in caught.value.message
    assert "-o" in caught.value.remedy
    assert [file.name for file in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_text() == "old"


@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_a_fault_at_any_step_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setattr(os, step, _fail(OSError(errno.EIO, "Input/output error")))
    with pytest.raises(StorageFault, match="Input/output error"):
        write_text(tmp_path / "f", "text")
    assert list(tmp_path.iterdir()) == []


def test_a_fault_while_moving_into_place_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", _fail(PermissionError(errno.EACCES, "Permission denied")))
    with pytest.raises(StorageFault, match="Permission denied"):
        write_text(tmp_path / "f", "text")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_goes_on_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", _fail(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "f", "text")
    assert list(tmp_path.iterdir()) == []


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda handle, data: REAL_WRITE(handle, bytes(data)[:3]))
    write_bytes(tmp_path / "f", b"0123456789")
    monkeypatch.undo()
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_mode_is_private_unless_asked(tmp_path: Path) -> None:
    write_text(tmp_path / "private", "x")
    write_text(tmp_path / "public", "x", mode=0o644)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "public").stat().st_mode) == 0o644


def test_a_folder_and_a_file_in_the_way_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFault, match="that is a folder"):
        write_text(tmp_path, "x")
    with pytest.raises(StorageFault, match="a part of the path is a file"):
        write_text(tmp_path / "file" / "inner", "x")


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data" / "target")
    write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "data" / "target").read_text() == "x"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
