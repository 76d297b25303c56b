"""The journal: on disk before the next step, and readable after a crash."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import msgspec
import pytest

from preheat.errors import BadInput, StorageFault
from preheat.files.journal import Journal


class Step(msgspec.Struct):
    id: str
    done: bool = True


def test_what_is_appended_is_read_in_order(tmp_path: Path) -> None:
    with Journal(tmp_path / "new" / "run.journal") as journal:
        assert list(journal.read(Step)) == []
        journal.append(Step("a"))
        journal.append(Step("b", done=False))
        assert list(journal.read(Step)) == [Step("a"), Step("b", done=False)]
    with Journal(journal.path) as again:
        again.append(Step("c"))
    assert [step.id for step in again.read(Step)] == ["a", "b", "c"]
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(("tail", "kept"), [(b'{"id":"b', ["a"]), (b'{"id":"b"}', ["a", "b"])])
def test_a_torn_last_line_is_left_out_and_mended(tmp_path: Path, tail: bytes, kept: list[str]) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"id":"a"}\n' + tail)
    assert [step.id for step in Journal(path).read(Step)] == kept
    with Journal(path) as journal:
        journal.append(Step("c"))
    assert [step.id for step in journal.read(Step)] == [*kept, "c"]


def test_damage_further_up_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b'{"id":"a"}\n{"id":\n{"id":"c"}\n')
    with pytest.raises(BadInput, match="j:2 is damaged"):
        list(Journal(tmp_path / "j").read(Step))


def test_every_append_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with Journal(tmp_path / "j") as journal:
        journal.append(Step("a"))
        journal.append(Step("b"))
    assert len(synced) == 2


def test_a_full_disk_leaves_whole_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disk full: ``os.write`` takes four bytes and then fails with ENOSPC."""
    journal = Journal(tmp_path / "j")
    journal.append(Step("a"))
    real, calls = os.write, []

    def write(handle: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, bytes(data)[:4])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(StorageFault, match="No space left"):
        journal.append(Step("b"))
    monkeypatch.undo()
    journal.append(Step("c"))
    assert [step.id for step in journal.read(Step)] == ["a", "c"]
    journal.remove()
    assert not journal.path.exists()
