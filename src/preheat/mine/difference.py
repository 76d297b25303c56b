"""Why two prompts part: one of the things of a telling form, the same things in another order, or no break at all."""

from __future__ import annotations

from preheat.mine.resync import ANCHOR_CHARS, common_chars, slots
from preheat.mine.volatile import cause_of, common_form, reordered
from preheat.records.outcomes import BreakCause

KEPT_CHARS = 400
"""Of what stands around a break: more than is shown, since it is redacted as a whole and cut afterwards."""
_KEPT_HEAD, _KEPT_TAIL = 800, 200
_LONGEST_TEXT = 400
_LONGEST_WORD = 200
_LEAST_SHARED = 64
_LEAST_SHARED_WEAK = 256
WEAK = (BreakCause.TEXT, BreakCause.NUMBER)
"""Causes that count only where what comes after is longer than they are."""


def whole_words(text: str, begin: int, end: int) -> tuple[int, int]:
    """The place extended to white space or other than ASCII: half a key or an address is none that redaction knows."""
    lower, upper = max(0, begin - _LONGEST_WORD), min(len(text), end + _LONGEST_WORD)
    while begin > lower and "!" <= text[begin - 1] <= "~":
        begin -= 1
    while end < upper and "!" <= text[end] <= "~":
        end += 1
    return begin, end


def _kept(text: str) -> str:
    """A variant: of a long one its beginning, and the end, which tells what kind of thing comes after."""
    longest = _KEPT_HEAD + _KEPT_TAIL
    return text if len(text) <= longest else f"{text[:_KEPT_HEAD]} … {text[-_KEPT_TAIL:]}"


class Difference:
    """Two prompts from where they part: why, and how much text they share after it.

    ``cause`` is ``None`` where the difference is no break. ``anchor`` is text that all prompts of the template reach,
    most surely in the pair where it stands furthest from the beginning, at ``anchor_at``.
    """

    def __init__(self, left: str, right: str, known: int) -> None:
        """``known`` characters at the beginning are the same."""
        self.cause: BreakCause | None = None
        self.later: list[BreakCause] = []
        self.shared = self.anchor_at = 0
        self.anchor = self.after = ""
        begin = known + common_chars(left, right, known, known)
        self.begin = begin
        self.examples = ("", "")
        line = left.rfind("\n", 0, begin) + 1
        items = reordered(left[line:], right[line:])
        if items is not None:
            self._order(left, right, line, items)
            return
        differences = slots(left, right, known)
        if not differences:
            return
        first = differences[0]
        cause, start, end = cause_of(left, first.left_begin, first.left_end)
        other, other_start, other_end = cause_of(right, first.right_begin, first.right_end)
        if other is not cause:
            cause = max(cause, other, key=list(BreakCause).index)
        if cause is BreakCause.TEXT:
            ours = whole_words(left, first.left_begin, first.left_end)
            theirs = whole_words(right, first.right_begin, first.right_end)
            cause = common_form(left[slice(*ours)], right[slice(*theirs)]) or cause
        longest = max(first.left_end - first.left_begin, first.right_end - first.right_begin)
        least = max(_LEAST_SHARED_WEAK, 2 * longest) if cause in WEAK else _LEAST_SHARED
        if first.shared < least or longest > _LONGEST_TEXT:
            return
        start, end = whole_words(left, start, end)
        other_start, other_end = whole_words(right, other_start, other_end)
        # What is before and after them is the same, so that the same much of it belongs to both.
        start = min(start, other_start)
        wider = max(end - first.left_end, other_end - first.right_end)
        end, other_end = first.left_end + wider, first.right_end + wider
        self.cause, self.begin = cause, start
        self.examples = _kept(left[start:end]), _kept(right[start:other_end])
        self.after = left[end : end + KEPT_CHARS]
        self.anchor, self.anchor_at = left[end : end + ANCHOR_CHARS], end
        self.shared = sum(slot.shared for slot in differences if slot.shared >= _LEAST_SHARED)
        self.later = [cause_of(left, slot.left_begin, slot.left_end)[0] for slot in differences[1:]]

    def _order(self, left: str, right: str, line: int, items: tuple[int, int, str]) -> None:
        one, other = line + items[0], line + items[1]
        self.cause, self.begin = BreakCause.ORDER, line
        after = common_chars(left, right, one, other)
        # Of the items themselves, orders share some that happen to stand at the beginning: about half, of few items.
        self.shared = items[0] // 2 + after
        self.anchor_at = one
        self.examples = _kept(left[line:one]), _kept(right[line:other])
        self.after = left[one : one + min(after, KEPT_CHARS)]
        self.anchor = (self.after if after >= ANCHOR_CHARS else items[2])[:ANCHOR_CHARS]
