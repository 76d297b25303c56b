"""JSON that stands as text inside JSON, several times over, and may have been cut off on the way."""

from __future__ import annotations

from typing import Any

import msgspec

from preheat.read.cut_json import completed
from preheat.read.truncation import without_mark

_LEVELS = 6


def decoded(value: Any) -> Any:
    """Text that looks like a JSON list or object, decoded; anything else, and text that is not JSON, as it is."""
    if not isinstance(value, str) or _start(value) not in ("[", "{"):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return value


def opened(value: Any) -> tuple[Any, bool]:
    """``value`` with all its layers of JSON text taken off, and whether it was cut off inside a list or an object.

    Text that is not JSON stays the text that it is, and so does a quoted text with nothing but text in it.
    """
    for _ in range(_LEVELS):
        if not isinstance(value, str):
            break
        start = _start(value)
        inner = decoded(value) if start in ("[", "{") else _unquoted(value) if start == '"' else value
        if inner is value:
            return (value, False) if start not in ("[", "{") else _closed(value)
        value = inner
    return value, False


def _closed(text: str) -> tuple[Any, bool]:
    try:
        value = completed(without_mark(text)[0])
    except ValueError:
        return text, False
    holder = value[0] if isinstance(value, list) and value else value
    return (value, True) if isinstance(holder, dict) and (holder or value is not holder) else (text, False)


def _unquoted(text: str) -> str:
    try:
        inner = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return text
    return inner if isinstance(inner, str) and _start(inner) in ("[", "{", '"') else text


def _start(text: str) -> str:
    return text[:200].lstrip()[:1]
