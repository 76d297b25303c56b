"""JSON that was cut off in its midst: what is whole in it, and the text that the cut went through as far as it goes."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_DEEPEST = 100
_OF_NUMBERS = "0123456789.+-eE"
_PIECE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[\[\]{},]', re.DOTALL)
_TORN_ESCAPE = re.compile(
    r"(?<!\\)(?:\\\\)*((?:\\ud[89ab][0-9a-f]{2})?(?:\\(?:u[0-9a-f]{0,3})?)?)\Z", re.DOTALL | re.IGNORECASE
)
_TORN_VALUE = re.compile(
    r'\s*,?\s*(?:"[^"\\]*(?:\\.[^"\\]*)*(?:"\s*(?::\s*)?|\\?))?'
    r"(?:-?[0-9.eE+-]*|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)\s*\Z",
    re.DOTALL,
)


def completed(text: str) -> Any:
    """The list or object that ``text`` is the beginning of, closed where it was cut.

    A text value that the cut went through is kept as far as it goes; a name, number or word that it went through is
    left out with all that belongs to it. Only the last entry at each level can be incomplete. Raises
    :class:`ValueError` for what is not the beginning of a JSON list or object.
    """
    closers: list[str] = []
    safe, safe_closers, open_at = 0, "", -1
    for piece in _PIECE.finditer(text):
        match piece[0][0]:
            case '"':
                open_at = -1 if piece[1] else piece.start()
                continue
            case "[" | "{" as bracket:
                closers.append("]" if bracket == "[" else "}")
                safe = piece.end()
            case "]" | "}" as bracket:
                if not closers or closers.pop() != bracket:
                    break
                safe = piece.end()
            case _:
                if not closers:
                    break
                safe = piece.start()
        if len(closers) > _DEEPEST:
            break
        safe_closers = "".join(reversed(closers))
    if not safe:
        raise ValueError("not the beginning of a list or an object")
    ends = "".join(reversed(closers))
    if open_at >= 0:
        torn = _TORN_ESCAPE.search(text, open_at)
        attempts = [text[: torn.start(1) if torn else len(text)] + '"' + ends]
    else:
        attempts = [text + ends] if text[-1] not in _OF_NUMBERS else []
    if _TORN_VALUE.match(text, safe):
        attempts.append(text[:safe] + safe_closers)
    for attempt in attempts:
        try:
            return msgspec.json.decode(attempt)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            continue
    raise ValueError("not the beginning of JSON")
