"""Where two texts that part share text again: the places between, and how much is the same after them."""

from __future__ import annotations

import re
from typing import NamedTuple

ANCHOR_CHARS = 48
"""Text that two prompts have in common by more than chance."""
_WORDS = re.compile(r"(?<!\w)\w{4}")
"""Where words of some length begin; in Chinese and Japanese, clauses."""
_MOST_SLOTS = 6
_LONGEST_SLOT = 1_500


class Slot(NamedTuple):
    """``left[left_begin:left_end]`` stands in the one text where the other has ``right[right_begin:right_end]``.

    ``shared`` characters after it are the same in both.
    """

    left_begin: int
    left_end: int
    right_begin: int
    right_end: int
    shared: int


def anchors(text: str, begin: int, end: int) -> dict[str, int]:
    """What stands at the words of ``text[begin:end]``, each with the first place where it stands."""
    found: dict[str, int] = {}
    for match in _WORDS.finditer(text, begin, end):
        at = match.start()
        found.setdefault(text[at : at + ANCHOR_CHARS], at)
    return {anchor: at for anchor, at in found.items() if len(anchor) == ANCHOR_CHARS}


def slots(left: str, right: str, begin: int) -> list[Slot]:
    """The differences of two texts that are the same up to ``begin``, as far as they share text again after each."""
    found: list[Slot] = []
    one = other = begin + common_chars(left, right, begin, begin)
    while len(found) < _MOST_SLOTS:
        known = anchors(left, one, one + _LONGEST_SLOT)
        meeting = _meeting(known, right, other)
        if meeting is None:
            break
        left_end, right_end = meeting
        while left_end > one and right_end > other and left[left_end - 1] == right[right_end - 1]:
            left_end, right_end = left_end - 1, right_end - 1
        shared = common_chars(left, right, left_end, right_end)
        found.append(Slot(one, left_end, other, right_end, shared))
        one, other = left_end + shared, right_end + shared
    return found


def _meeting(known: dict[str, int], text: str, begin: int) -> tuple[int, int] | None:
    for match in _WORDS.finditer(text, begin, begin + _LONGEST_SLOT):
        at = match.start()
        place = known.get(text[at : at + ANCHOR_CHARS])
        if place is not None:
            return place, at
    return None


def common_chars(left: str, right: str, one: int, other: int) -> int:
    """How many characters are the same from ``left[one]`` and ``right[other]`` on."""
    low, high = 0, min(len(left) - one, len(right) - other)
    while low < high:
        middle = (low + high + 1) // 2
        if left[one + low : one + middle] == right[other + low : other + middle]:
            low = middle
        else:
            high = middle - 1
    return low
