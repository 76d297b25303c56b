"""The files between the stages: JSON with ``schema`` and ``version``, written whole or not at all, mode 0600."""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec
import zstandard

from preheat.errors import BadInput, StorageFault
from preheat.files.atomic import write_bytes, write_text
from preheat.files.compressed import open_stream
from preheat.files.journal import Journal

__all__ = ["Journal", "digest", "load", "save", "schema_of", "write_bytes", "write_text"]

T = TypeVar("T")
PRETTY_LIMIT_BYTES = 1 << 20
"""Plain JSON up to this size is indented for people to read."""
_GIVE_OURS = "give a file that preheat wrote"
_WRITE_AGAIN = "write it again with the stage that it came from"
_CHECK_NUMBERS = "check the numbers that went in: times, costs, budgets"
_LONGEST_VERSION = 9
_HEAD_BYTES = 200
_SCHEMA = re.compile(rb'\s*\{\s*"schema"\s*:\s*"(preheat\.[a-z.]+)"')
_LONGEST_SHOWN = 60
_TOO_DEEP = "it is nested too deeply"
_LEVEL = 6
"""A profile is a sixteenth smaller than at the default 3, for half a second more."""
_encoder = msgspec.json.Encoder()


@runtime_checkable
class _Checked(Protocol):
    """A record whose parts refer to each other."""

    def fault(self) -> str | None: ...


class _Head(msgspec.Struct):
    schema: str | None = None
    version: str | None = None


def save(path: str | Path, record: msgspec.Struct) -> None:
    """Write ``record`` as JSON, compressed when the name ends in ``.zst``.

    Atomic, mode 0600, parent folders made. Raises :class:`preheat.errors.StorageFault`; then nothing partial is
    left, and a file that was there before is unchanged. So it does, up to :data:`PRETTY_LIMIT_BYTES`, for a number
    that JSON has no form for (NaN, infinity): written as ``null``, it could not be loaded again.
    """
    data = _encoded(path, record)
    if str(path).endswith(".zst"):
        data = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(data)
    else:
        data = (msgspec.json.format(data, indent=2) if len(data) <= PRETTY_LIMIT_BYTES else data) + b"\n"
    write_bytes(path, data)


def _encoded(path: str | Path, record: msgspec.Struct) -> bytes:
    try:
        data = _encoder.encode(record)
    except UnicodeEncodeError as error:
        raise StorageFault(
            f"cannot write {path}: a text in it is not Unicode ({error.reason})", "give names that are UTF-8"
        ) from error
    if b"null" in data and len(data) <= PRETTY_LIMIT_BYTES:
        place = _not_finite(msgspec.to_builtins(record))
        if place is not None:
            raise StorageFault(f"cannot write {path}: {place[1:]} is not a finite number", _CHECK_NUMBERS)
    return data


def _not_finite(value: Any) -> str | None:
    """Where in ``value`` the first number is that JSON has no form for, as ``.items[3].gain_ms``."""
    if isinstance(value, float):
        return None if math.isfinite(value) else ""
    if isinstance(value, dict):
        inside = ((f".{name}", inner) for name, inner in value.items())
    elif isinstance(value, list | tuple):
        inside = ((f"[{index}]", inner) for index, inner in enumerate(value))
    else:
        return None
    return next((step + rest for step, inner in inside if (rest := _not_finite(inner)) is not None), None)


def load(path: str | Path, type: type[T]) -> T:
    """Read a file that :func:`save` wrote (compressed or not) as ``type``.

    A newer minor version is read, unknown fields are ignored. Raises :class:`BadInput` for a missing file, one
    that is not JSON, contradicts itself, has another schema, or a newer (or older) major version.
    """
    with open_stream(str(path)) as stream:
        data = stream.read()
    try:
        head = msgspec.json.decode(data, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a Preheat file: {_what(data)} ({error})", _GIVE_OURS) from None
    except RecursionError:
        raise BadInput(f"{path} is not a Preheat file: {_TOO_DEEP}", _GIVE_OURS) from None
    _check_head(path, head, type)
    try:
        record = msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is damaged or was edited: {error}", _WRITE_AGAIN) from error
    except RecursionError as error:
        raise BadInput(f"{path} is damaged or was edited: {_TOO_DEEP}", _WRITE_AGAIN) from error
    fault = record.fault() if isinstance(record, _Checked) else None
    if fault is not None:
        raise BadInput(f"{path} is damaged or was edited: {fault}", _WRITE_AGAIN)
    return record


def schema_of(path: str | Path) -> str | None:
    """The schema of a file that :func:`save` wrote, by its first bytes; ``None`` for any other file.

    Raises :class:`BadInput` for a missing file, or one that is damaged from the start.
    """
    with open_stream(str(path)) as stream:
        found = _SCHEMA.match(stream.read(_HEAD_BYTES))
    return found[1].decode() if found else None


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
        raise BadInput(f"{path} is a {_shown(head.schema)} file; here a {wanted} file is needed", "check the arguments")
    major, ours = _major(head.version), _major(version)
    if major is None or ours is None:
        raise BadInput(f"{path} has the version {_shown(head.version)}, which is not MAJOR.MINOR", _WRITE_AGAIN)
    if major != ours:
        remedy = "use a newer preheat to read it" if major > ours else _WRITE_AGAIN
        raise BadInput(f"{path} has version {_shown(head.version)} of {wanted}; this preheat reads {ours}.x", remedy)


def _major(version: str) -> int | None:
    first = version.split(".")[0]
    return int(first) if first.isdecimal() and len(first) <= _LONGEST_VERSION else None


def _shown(text: str) -> str:
    """Text of a file that may be anybody's, fit for a message."""
    return text if text.isprintable() and len(text) <= _LONGEST_SHOWN else ascii(text[:_LONGEST_SHOWN])
