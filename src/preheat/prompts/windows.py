"""Slow patterns where they can match at all: around what a fast pattern finds."""

from __future__ import annotations

import re
from collections.abc import Callable


def around(text: str, run: re.Pattern[str], before: int, after: int, hide: Callable[[str], str]) -> str:
    """``text`` with ``hide`` applied to each match of ``run`` and the characters ``before`` and ``after`` it.

    What ``hide`` looks for must begin well within ``before``: at a window's first character it cannot look back.
    """
    pieces: list[str] = []
    done = start = end = 0
    for match in run.finditer(text):
        if match.start() - before > end:
            pieces += (text[done:start], hide(text[start:end]))
            done, start = end, match.start() - before
        end = match.end() + after
    return "".join((*pieces, text[done:start], hide(text[start:end]), text[end:])) if end else text
