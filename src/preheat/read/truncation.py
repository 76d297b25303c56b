"""Text that a tool cut before it was logged: told by a mark at its end, or by the length that it was cut to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from preheat.records.request import Message

_LONGEST_MARK = 200
_MARK = re.compile(
    r"\s*(?:\.{3}|…)?\s*(?:"
    r"[\[(<{][^\[(<{]{0,60}\b(?:truncated|more (?:characters|chars|bytes|tokens))\b[^\[(<{]{0,60}[\])>}]"
    r"|(?:\.{3}|…)\s*truncated\.?)\s*\Z",
    re.IGNORECASE,
)
MARK = " [truncated]"
"""Our own, where reading itself finds that a text is cut."""
LIMITS = frozenset(
    [1024 << doubling for doubling in range(11)]
    + [(1024 << doubling) - 1 for doubling in range(2, 11)]
    + [4000, 5000, 10_000, 12_000, 16_000, 20_000, 25_000, 32_000, 50_000, 64_000, 100_000]
)
"""Lengths (characters, or bytes of UTF-8) that SDKs, collectors and back ends are usually told to cut attributes to."""
_ELLIPSES = ("...", "…")
_ENDS = tuple(".!?:;。！？：；…\"'”’`)]}>*_|-=#\n")


def without_mark(text: str) -> tuple[str, bool]:
    """``text`` without a mark such as ``...[truncated]`` at its end, and whether there was one."""
    tail_at = max(0, len(text) - _LONGEST_MARK)
    tail = text[tail_at:].lower()
    if "truncated" not in tail and "more " not in tail:  # nearly always; the search is much slower
        return text, False
    mark = _MARK.search(text, tail_at)
    return (text[: mark.start()], True) if mark else (text, False)


def uncut(text: str, *, limited: bool) -> tuple[str, bool]:
    """``text`` without a mark of truncation, and whether it was cut.

    ``limited``: the text is an attribute of its own, so that it may also have been cut without a mark. That is known
    where it has exactly one of :data:`LIMITS` as its length and stops in the midst of a sentence, or such a length
    before or after an ellipsis. (A whole text of such a length is taken as cut then: that loses its end, the other
    error would invent one.)
    """
    text, cut = without_mark(text)
    if cut or not limited or len(text) < 1020:
        return text, cut
    for ellipsis in _ELLIPSES:
        if text.endswith(ellipsis) and (_is_limit(text) or _is_limit(text[: -len(ellipsis)])):
            return text[: -len(ellipsis)], True
    return text, not text.endswith(_ENDS) and _is_limit(text)


def _is_limit(text: str) -> bool:
    return len(text) in LIMITS or (not text.isascii() and len(text.encode(errors="replace")) in LIMITS)


def up_to_the_cut(messages: Sequence[Message], *, limited: bool) -> tuple[tuple[Message, ...], bool]:
    """The messages up to the first one that was cut, which is kept as far as it goes, and whether there was one."""
    for number, message in enumerate(messages):
        content, cut = _content_uncut(message.content, limited)
        if cut:
            last = msgspec.structs.replace(message, content=content)
            return (*messages[:number], last), True
    return tuple(messages), False


def _content_uncut(content: str | list[Any] | None, limited: bool) -> tuple[str | list[Any] | None, bool]:
    if isinstance(content, str):
        return uncut(content, limited=limited)
    for number, part in enumerate(content or ()):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            text, cut = uncut(part["text"], limited=limited)
            if cut:
                return [*(content or ())[:number], {**part, "text": text}], True
    return content, False
