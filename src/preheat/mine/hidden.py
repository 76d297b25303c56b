"""Which characters of a tree's edges redaction hides, so that no graph spells out what an excerpt would not show.

Redaction takes long beside all else, so it looks at the edges that most requests pass, as far as a bound goes; of the
others, nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from preheat.mine.characters import SEPARATOR
from preheat.mine.columns import Columns
from preheat.mine.edge_texts import Batch
from preheat.prompts.redaction import printable, redact
from preheat.records.profile import Node

LOOKED_CHARS = 250_000
"""Characters that are redacted at most."""
_BESIDE_CHARS = 128
"""Of what comes before and after an edge: a secret may begin or end there."""
_LABELS = re.compile(r"\[(?:key|email|id|iban|card|phone)\]")
_SPACES = dict.fromkeys((0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x1F, 0x85), " ")

Bools = NDArray[np.bool_]


class Hidden:
    """Tells of a batch's characters whether they were looked at, and whether they are hidden."""

    def __init__(self, nodes: Sequence[Node], columns: Columns, chosen: Bools, most_chars: int = LOOKED_CHARS) -> None:
        self._nodes = nodes
        self._parents = columns.parents
        order = np.lexsort((columns.hashes, -columns.counts))
        order = order[chosen[order]]
        fits = np.cumsum(columns.chars[order] + 2 * _BESIDE_CHARS) <= most_chars
        self._looked = np.zeros(len(chosen), np.bool_)
        self._looked[order[fits]] = True
        self._follower = np.full(len(chosen), -1, np.int64)
        for number in order[::-1].tolist():  # the one that most requests go on with is written last
            if columns.parents[number] >= 0:
                self._follower[columns.parents[number]] = number

    def looked_and_hidden(self, batch: Batch) -> tuple[Bools, Bools]:
        """Of each character of ``batch.text``: whether it was looked at, and whether it is hidden."""
        looked = np.zeros(len(batch.text), np.bool_)
        hidden = np.zeros(len(batch.text), np.bool_)
        at = 0
        for number, (begun, left), text in zip(
            batch.edges, batch.open_chars, batch.text.split(SEPARATOR), strict=False
        ):
            if self._looked[number]:
                found = self._spans(number, text, begun, left)
                looked[at : at + len(text)] = found is not None
                for start, end in found or ():
                    hidden[at + start : at + end] = True
            at += len(text) + 1
        return looked, hidden

    def _spans(self, number: int, text: str, begun: int, left: int) -> list[tuple[int, int]] | None:
        """The hidden parts of an edge's ``text``, which begins with ``begun`` characters of what is above it and
        leaves its last ``left`` to what is below."""
        before = self._before(number, begun)
        spans = hidden_spans(before + text + self._after(number, left))
        if spans is None:
            return None
        clipped = [(max(0, start - len(before)), min(len(text), end - len(before))) for start, end in spans]
        return [(start, end) for start, end in clipped if start < end]

    def _before(self, number: int, begun: int) -> str:
        parts: list[str] = []
        missing = _BESIDE_CHARS + begun
        above = self._parents[number]
        while above >= 0 and missing > 0:
            text = (self._nodes[above].text or "")[-missing:]
            parts.append(text)
            missing -= len(text)
            above = self._parents[above]
        whole = "".join(reversed(parts))
        return whole[: len(whole) - begun]

    def _after(self, number: int, left: int) -> str:
        text = self._nodes[number].text or ""
        found = text[len(text) - left :]
        below = int(self._follower[number])
        while below >= 0 and len(found) < _BESIDE_CHARS:
            found += (self._nodes[below].text or "")[:_BESIDE_CHARS]
            below = int(self._follower[below])
        return found[: left + _BESIDE_CHARS]


def hidden_spans(text: str) -> list[tuple[int, int]] | None:
    """Where redaction puts something else in the place of ``text``; ``None`` where that cannot be told.

    What is outside of the spans stands in the redacted text, in this order.
    """
    text = text.translate(_SPACES)
    if printable(text) != text:
        return None
    pieces = _LABELS.split(redact(text))
    if not text.startswith(pieces[0]):
        return None
    spans: list[tuple[int, int]] = []
    end = len(pieces[0])
    for nth, piece in enumerate(pieces[1:], 2):
        last = nth == len(pieces)
        start = len(text) - len(piece) if last else text.find(piece, end + 1)
        if start < end or (last and not text.endswith(piece)):
            return None
        spans.append((end, start))
        end = start + len(piece)
    return spans
