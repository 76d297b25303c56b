"""The files between the stages: JSON with ``schema`` and ``version``, written whole or not at all, mode 0600."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import zstandard

from preheat.errors import BadInput
from preheat.files.atomic import write_bytes, write_text
from preheat.files.compressed import open_stream
from preheat.files.journal import Journal

__all__ = ["Journal", "digest", "load", "save", "write_bytes", "write_text"]

T = TypeVar("T")
PRETTY_LIMIT_BYTES = 1 << 20
"""Plain JSON up to this size is indented for people to read."""
_GIVE_OURS = "give a file that preheat wrote"
_WRITE_AGAIN = "write it again with the stage that it came from"
_encoder = msgspec.json.Encoder()


class _Head(msgspec.Struct):
    schema: str | None = None
    version: str | None = None


def save(path: str | Path, record: msgspec.Struct) -> None:
    """Write ``record`` as JSON, compressed when the name ends in ``.zst``.

    Atomic, mode 0600, parent folders made. Raises :class:`preheat.errors.StorageFault`; then nothing partial is
    left, and a file that was there before is unchanged.
    """
    data = _encoder.encode(record)
    if str(path).endswith(".zst"):
        data = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)
    else:
        data = (msgspec.json.format(data, indent=2) if len(data) <= PRETTY_LIMIT_BYTES else data) + b"\n"
    write_bytes(path, data)


def load(path: str | Path, type: type[T]) -> T:
    """Read a file that :func:`save` wrote (compressed or not) as ``type``.

    A newer minor version is read, unknown fields are ignored. Raises :class:`BadInput` for a missing file, one
    that is not JSON, has another schema, or a newer (or older) major version.
    """
    with open_stream(str(path)) as stream:
        data = stream.read()
    try:
        head = msgspec.json.decode(data, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a Preheat file: {_what(data)} ({error})", _GIVE_OURS) from None
    _check_head(path, head, type)
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is damaged or was edited: {error}", _WRITE_AGAIN) from error


def digest(record: Any) -> str:
    """SHA-256 (hex) of the record's JSON: a file read back has the digest that the record had before it was saved.

    Mappings keep their own order. A whole number in a float field counts as the float that it is read back as.
    """
    loaded = msgspec.json.decode(_encoder.encode(record), type=type(record))
    return hashlib.sha256(_encoder.encode(loaded)).hexdigest()


def _what(data: bytes) -> str:
    start = data.lstrip()[:1]
    if not start:
        return "it is empty"
    return "it is JSON of another shape" if start == b"[" else "it does not hold one JSON object"


def _check_head(path: str | Path, head: _Head, type: Any) -> None:
    defaults = {field.name: field.default for field in msgspec.structs.fields(type)}
    wanted, version = defaults.get("schema"), str(defaults.get("version"))
    if head.schema is None or head.version is None:
        raise BadInput(f"{path} has no schema and version, so it is not a {wanted} file", _GIVE_OURS)
    if head.schema != wanted:
        raise BadInput(f"{path} is a {head.schema} file; here a {wanted} file is needed", "check the arguments")
    major, ours = _major(head.version), _major(version)
    if major is None or ours is None:
        raise BadInput(f"{path} has the version {head.version!r}, which is not MAJOR.MINOR", _WRITE_AGAIN)
    if major != ours:
        remedy = "use a newer preheat to read it" if major > ours else _WRITE_AGAIN
        raise BadInput(f"{path} has version {head.version} of {wanted}; this preheat reads {ours}.x", remedy)


def _major(version: str) -> int | None:
    first = version.split(".")[0]
    return int(first) if first.isdecimal() else None
