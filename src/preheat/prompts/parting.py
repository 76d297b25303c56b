"""Prompts that part, fit to be shown: each is redacted as a whole, and cut where they part only afterwards.

What stands before the cut is often what tells a secret (``password:``), and half a number is none that a pattern knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from preheat.prompts.redaction import HIDDEN, LABELS, begun_before, printable, redact_cut

_LABEL = re.compile("|".join(map(re.escape, (*LABELS, HIDDEN))))
_LEADING = re.compile(r"\s*\S+(?:[ .-]?\(?\d+\)?)*")
"""A word, and the groups of digits that follow it."""

_Span = tuple[int, int]


class Redacted:
    """A text and its redaction: where the places of the one lie in the other, and what was hidden.

    ``text`` may be cut at its end; it has no control characters (:func:`preheat.prompts.redaction.printable`).
    """

    def __init__(self, text: str) -> None:
        self.text = text = text.rstrip()
        self.shown = redact_cut(text)
        self.hidden: list[tuple[_Span, _Span]] = []
        """What was hidden, as begin and end in the text, and in what is shown."""
        self._align()

    def _align(self) -> None:
        labels = [match.span() for match in _LABEL.finditer(self.shown)]
        edges = [(0, 0), *labels, (len(self.shown), len(self.shown))]
        at = labels[0][0] if labels else 0
        for (begin, end), (following, _) in pairwise(edges[1:]):
            literal = self.shown[end:following]
            last = following == len(self.shown)
            found = len(self.text) - len(literal) if last else self.text.find(literal, at + 1)
            if found <= at:
                found = len(self.text)  # what cannot be placed is hidden to the end
            self.hidden.append(((at, found), (begin, end)))
            at = min(found + len(literal), len(self.text))

    def place(self, at: int, *, behind: bool = False) -> int:
        """Where ``at`` lies in what is shown: of something hidden before its mark, or ``behind`` it."""
        moved = 0
        for (begin, end), (shown_begin, shown_end) in self.hidden:
            if at <= begin:
                break
            if at < end:
                return shown_end if behind else shown_begin
            moved = shown_end - end
        return max(0, min(at + moved, len(self.shown)))


def apart(before: str, variants: Sequence[tuple[str, str]], *, begun: bool) -> tuple[str, list[str], str]:
    """``before`` as it may be shown, each variant, and what comes after the first one.

    ``variants`` go on from ``before``, each with the text after it. A secret that begins before the place where they
    part is shown as its mark in every variant, and as nothing before. ``begun``: ``before`` is the end of more text.
    """
    before = printable(before)
    if begun:
        before = begun_before(before)
    pairs = [(printable(variant), printable(after)) for variant, after in variants]
    texts = [Redacted(before + variant + after) for variant, after in pairs]
    cut = len(before)
    spans = [{span for span, _ in text.hidden if span[0] <= cut} for text in texts]
    shared = {span for span in set.intersection(*spans) if span[1] <= cut} if spans else set()
    parting = [sorted(each - shared) for each in spans]
    lowest = min([cut, *(span[0] for each in parting for span in each)])
    same_start = len({variant[:1] for variant, _ in pairs}) == 1
    mark = next((_mark(text, each[0]) for text, each in zip(texts, parting, strict=True) if each), "")
    shown = []
    for text, each, (variant, _) in zip(texts, parting, pairs, strict=True):
        end = text.place(cut + len(variant), behind=True)
        if each:
            shown.append(text.shown[text.place(each[0][0]) : end])
        elif mark and (lowest < cut or same_start):
            shown.append(_LEADING.sub(mark, text.shown[text.place(cut) : end], count=1))
        else:
            shown.append(text.shown[text.place(cut) : end])
    if not texts:
        return redact_cut(before), [], ""
    first = texts[0]
    return first.shown[: first.place(lowest)], shown, first.shown[first.place(cut + len(pairs[0][0]), behind=True) :]


def _mark(text: Redacted, span: _Span) -> str:
    begin, end = next(shown for hidden, shown in text.hidden if hidden == span)
    return text.shown[begin:end]
