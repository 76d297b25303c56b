"""The texts of a tree's edges, in batches, so that no word is cut where an edge ends.

What an edge leaves open (a word, or a chat template's marker that has begun) is where its children begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preheat.mine.characters import LONGEST_WORD, SEPARATOR, WORDY, kinds_of_characters
from preheat.records.profile import Node

FIRST_MARKER = 0x100000
"""Code points of a private plane, from here on, stand for markers."""
_BATCH_CHARS = 1 << 18
_BATCH_EDGES = 1 << 14
_MARKER = re.compile(r"<\|[A-Za-z_]{1,28}\|>")
_BEGUN_MARKER = re.compile(r"<(?:\|(?:[A-Za-z_]{1,28}\|?)?)?\Z")
_LONGEST_MARKER = 32
_MOST_MARKERS = 1024


class Markers:
    """Chat markers stand for one character each, of a plane that no text uses."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def replace(self, text: str) -> str:
        for name in sorted(set(_MARKER.findall(text))):
            if name not in self.names and len(self.names) < _MOST_MARKERS:
                self.names[name] = chr(FIRST_MARKER + len(self.names))
            text = text.replace(name, self.names.get(name, name))
        return text


@dataclass(frozen=True)
class Batch:
    """``text`` holds the edges' texts, :data:`SEPARATOR` after each.

    ``open_chars`` has two numbers an edge: how many characters its text begins with that are its parent's, and how many
    at its end were left to its children.
    """

    text: str
    edges: list[int]
    open_chars: list[tuple[int, int]]


def batches(nodes: Sequence[Node], chosen: NDArray[np.bool_], markers: Markers) -> Iterator[Batch]:
    """The edges' texts, some at a time; each begins with the word that its parent left open, and leaves its own."""
    carried = [""] * len(nodes)
    numbers = np.flatnonzero(chosen).tolist()
    for start in range(0, len(numbers), _BATCH_EDGES):
        some = numbers[start : start + _BATCH_EDGES]
        texts: list[str] = []
        edges: list[int] = []
        left: list[tuple[int, int]] = []
        size = 0
        for number, tail in zip(some, _tails([nodes[number].text or "" for number in some]), strict=True):
            text, parent = nodes[number].text or "", nodes[number].parent
            if parent >= 0 and carried[parent]:
                tail = tail if 0 <= tail < len(text) else -1
                text = carried[parent] + text
            if tail < 0:
                tail = open_chars(text)
            end = len(text) - tail
            carried[number] = text[end:]
            texts.append(text[:end])
            edges.append(number)
            left.append((len(carried[parent]) if parent >= 0 else 0, tail))
            size += end
            if size > _BATCH_CHARS:
                yield _batch(texts, edges, left, markers)
                texts, edges, left, size = [], [], [], 0
        if texts:
            yield _batch(texts, edges, left, markers)


def _batch(texts: list[str], edges: list[int], left: list[tuple[int, int]], markers: Markers) -> Batch:
    whole = SEPARATOR.join([*texts, ""])
    if whole.count(SEPARATOR) > len(texts):
        whole = SEPARATOR.join([*(text.replace(SEPARATOR, " ") for text in texts), ""])
    return Batch(markers.replace(whole), edges, left)


def _tails(texts: Sequence[str]) -> list[int]:
    """How many characters of each edge's own end may begin a word; -1 where a closer look is needed."""
    wide = LONGEST_WORD + 1
    ends = "".join([text[-wide:].rjust(wide) for text in texts])
    points = np.frombuffer(ends.encode("utf-32-le", "surrogatepass"), np.uint32).reshape(len(texts), wide)[:, ::-1]
    kinds = kinds_of_characters()[points]
    same = kinds == kinds[:, :1]
    run = np.where(same.all(axis=1), wide, np.argmin(same, axis=1))
    run[(run > LONGEST_WORD) | ~np.isin(kinds[:, 0], list(WORDY))] = 0
    opened, closed = points == ord("<"), points == ord(">")
    at = np.argmax(opened, axis=1)
    run[opened.any(axis=1) & ((at < np.argmax(closed, axis=1)) | ~closed.any(axis=1))] = -1
    found: list[int] = run.tolist()
    return found


def open_chars(text: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of a word or marker."""
    if not text:
        return 0
    begun = text.rfind("<", -_LONGEST_MARKER)
    if begun >= 0 and _BEGUN_MARKER.match(text, begun):
        return len(text) - begun
    kinds = kinds_of_characters()
    kind = kinds[ord(text[-1])]
    if kind not in WORDY:
        return 0
    run = 1
    while run < len(text) and run <= LONGEST_WORD and kinds[ord(text[-run - 1])] == kind:
        run += 1
    return run if run <= LONGEST_WORD else 0
