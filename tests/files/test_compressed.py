"""Compression is told by the first bytes; damage is named, also when it shows in mid-stream."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from preheat.errors import BadInput
from preheat.files.compressed import HEAD_BYTES, open_stream, peek_head

DATA = bytes(random.Random(1).choices(b"abcdefgh \n", k=300_000))


def _zst_frames(data: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor()
    half = len(data) // 2
    return compressor.compress(data[:half]) + compressor.compress(data[half:])


def _gzip_members(data: bytes) -> bytes:
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip, two members": _gzip_members,
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd, two frames": _zst_frames,
    "xz": lzma.compress,
    "xz, two streams": lambda data: lzma.compress(data[:1000]) + lzma.compress(data[1000:]),
}


def _read_in_pieces(path: Path) -> None:
    with open_stream(str(path)) as stream:
        while stream.read(10_000):
            pass


@pytest.mark.parametrize("kind", COMPRESS)
def test_reads_back_whatever_the_name(tmp_path: Path, kind: str) -> None:
    (tmp_path / "log.txt").write_bytes(COMPRESS[kind](DATA))
    with open_stream(str(tmp_path / "log.txt")) as stream:
        assert stream.read() == DATA


@pytest.mark.parametrize("kind", COMPRESS)
def test_reads_standard_input_and_leaves_it_open(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(COMPRESS[kind](DATA))))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", stdin)
    with open_stream("-") as stream:
        assert stream.read() == DATA
    assert not stdin.buffer.closed


@pytest.mark.parametrize("kind", [kind for kind in COMPRESS if kind != "plain"])
@pytest.mark.parametrize("keep", [0.999, 0.5, 0.02])
def test_a_truncated_file_is_named(tmp_path: Path, kind: str, keep: float) -> None:
    packed = COMPRESS[kind](DATA)
    (tmp_path / "cut.log").write_bytes(packed[: int(len(packed) * keep)])
    with pytest.raises(BadInput, match=r"cut\.log is a ") as caught:
        _read_in_pieces(tmp_path / "cut.log")
    assert caught.value.remedy


@pytest.mark.parametrize("kind", ["gzip", "zstd", "xz"])
def test_a_corrupt_file_is_named_after_what_was_good_in_it(tmp_path: Path, kind: str) -> None:
    packed = bytearray(COMPRESS[kind](DATA))
    middle = len(packed) // 2
    packed[middle : middle + 64] = bytes(64)
    (tmp_path / "bad.log").write_bytes(packed)
    with pytest.raises(BadInput, match=rf"bad\.log is a .*{kind}"):
        _read_in_pieces(tmp_path / "bad.log")


def test_garbage_after_a_zstd_frame_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(COMPRESS["zstd"](DATA) + b"garbage")
    with open_stream(str(tmp_path / "f")) as stream, pytest.raises(BadInput, match="corrupt zstd"):
        stream.read()


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with open_stream(str(tmp_path / "f")) as stream:
        assert stream.read() == b""


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="none: No such file"):
        open_stream(str(tmp_path / "none"))
    with pytest.raises(BadInput, match="Is a directory"):
        open_stream(str(tmp_path))


def test_the_standard_gzip_serves_where_isal_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal", None)
    (tmp_path / "f").write_bytes(gzip.compress(DATA))
    with open_stream(str(tmp_path / "f")) as stream:
        assert stream.read() == DATA


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_the_head_is_shown_whole_though_it_come_in_pieces(
    monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    data = b"0123456789" * 20_000
    read_end, write_end = os.pipe()

    def drip() -> None:
        packed = pack(data)
        with os.fdopen(write_end, "wb", buffering=0) as pipe:
            for at in range(0, len(packed), 1000):
                pipe.write(packed[at : at + 1000])

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(os.fdopen(read_end, "rb")))
    writer = threading.Thread(target=drip)
    writer.start()
    with open_stream("-") as stream:
        assert peek_head(stream) == data[:HEAD_BYTES]
        assert stream.read() == data
    writer.join()


def test_damage_behind_the_head_is_told_when_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(zstandard.ZstdCompressor().compress(os.urandom(20_000))[:15_000])
    with open_stream(str(tmp_path / "log")) as stream:
        assert 0 < len(peek_head(stream)) < 20_000
        with pytest.raises(BadInput, match="truncated"):
            stream.read()


def test_only_a_plain_file_is_seekable(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"abc")
    (tmp_path / "packed").write_bytes(gzip.compress(b"abc"))
    with open_stream(str(tmp_path / "plain")) as stream:
        assert stream.seekable()
        assert (stream.read(), stream.seek(-1, 2), stream.read()) == (b"abc", 2, b"c")
    with open_stream(str(tmp_path / "packed")) as stream:
        assert not stream.seekable()
