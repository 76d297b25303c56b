"""The words of a prefix tree's edges, as numbers, each edge's text looked at once.

No model is needed and no language is assumed: a word is a run of letters (marks included), a run of letters of a
script that is written without spaces, up to three digits, a chat template's marker such as ``<|im_start|>``, or any
other visible character alone. Working on arrays of code points costs a fraction of what a regular expression does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from preheat.mine.columns import Columns
from preheat.mine.interner import Interner
from preheat.records.profile import Node

SPACE, LETTERS, UNSPACED, DIGITS, SYMBOL, JOINER, AT = range(7)
"""Joiners are symbols that keys, ids and addresses are made with."""
LONGEST_WORD = 32
"""Letters; a longer run is no word: it is cut after as many, and at the end of an edge."""
LONGEST_NUMBER = 3
_BATCH_CHARS = 1 << 18
_BATCH_EDGES = 1 << 14
_SEPARATOR = "\U0010ffff"
_MARKER = re.compile(r"<\|[A-Za-z_]{1,28}\|>")
_BEGUN_MARKER = re.compile(r"<(?:\|(?:[A-Za-z_]{1,28}\|?)?)?\Z")
_LONGEST_MARKER = 32
_FIRST_MARKER = 0x100000
_MOST_MARKERS = 1024
_WITHOUT_SPACES = (
    *((0x0E00, 0x0F00), (0x0F00, 0x1000), (0x1000, 0x10A0), (0x1780, 0x1800), (0x2E80, 0x2FE0), (0x3005, 0x3008)),
    *((0x3040, 0x3100), (0x31F0, 0x3200), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x40000)),
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Chinese and Japanese; Korean has spaces."""
_KIND_OF = {"L": LETTERS, "M": LETTERS, "Z": SPACE, "Cc": SPACE, "Cf": SPACE, "Nd": DIGITS}
_JOINERS = "_-+/=.%~"
_SECRET_CHARS = 16
_HASH_BASE = 0x9E3779B97F4A7C15 | 1
_WORDY = frozenset((LETTERS, UNSPACED, DIGITS))
_LONGEST = np.array([0, LONGEST_WORD, LONGEST_WORD, LONGEST_NUMBER, 1, 1, 1])

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """The words of all edges in a row, and the distinct ones.

    ``ids`` numbers distinct words, shape ``[words]``; edge ``n`` has those from ``offsets[n]`` to ``offsets[n + 1]``,
    ``before[n]`` is the word that precedes them, -1 where there is none, ``within[n]`` whether it is one of the edges
    that most requests pass. ``open`` is false for words that stand in what looks like a key or an address. Distinct
    word ``w`` consists of the code points ``chars[starts[w]:starts[w + 1]]`` of one kind, ``kinds[w]``. ``covered``
    is the share of the prompts' characters that the edges within stand for.
    """

    ids: NDArray[np.int32]
    offsets: Ints
    before: Ints
    within: Bools
    open: Bools
    chars: NDArray[np.uint32]
    starts: Ints
    kinds: NDArray[np.uint8]
    markers: tuple[str, ...]
    covered: float

    def text(self, word: int) -> str:
        """The characters of a distinct word, a marker spelt out."""
        points = self.chars[self.starts[word] : self.starts[word + 1]]
        marker = int(points[0]) - _FIRST_MARKER
        if 0 <= marker < len(self.markers):
            return self.markers[marker]
        return str(points.tobytes().decode("utf-32-le", "replace"))


@cache
def kinds_of_characters() -> NDArray[np.uint8]:
    """What each code point is, shape ``[0x110000]``."""
    categories = [unicodedata.category(chr(point)) for point in range(0x20000)]
    table = np.full(0x110000, SYMBOL, np.uint8)
    table[:0x20000] = [_KIND_OF.get(each[0], _KIND_OF.get(each, SYMBOL)) for each in categories]
    for first, end in _WITHOUT_SPACES:
        part = table[first:end]
        part[(part == LETTERS) if first < 0x20000 else slice(None)] = UNSPACED
    table[[ord(joiner) for joiner in _JOINERS]] = JOINER
    table[ord("@")] = AT
    table[ord(_SEPARATOR)] = SPACE
    return table


def read_words(nodes: Sequence[Node], columns: Columns, most_chars: int, also: Sequence[int] = ()) -> Words:
    """The words of the tree's edges, as far as their text was kept.

    A word over an edge's end belongs to the children; where a prompt's last whole block cuts a word off, it is left
    out, since nobody knows it. Past ``most_chars`` characters of distinct text, the edges that fewest requests pass
    are not looked at, unless they lead to one of the nodes ``also``.
    """
    within, covered = _within(columns, most_chars)
    chosen = _with_paths(columns, within, also)
    interner, markers = Interner(), _Markers()
    made = [_read_batch(batch, interner) for batch in _batches(nodes, chosen, markers)]
    counts = np.zeros(len(nodes), np.int64)
    for part in made:
        counts[part.edges] = part.counts
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ids = np.concatenate([np.zeros(0, np.int32), *(part.ids for part in made)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(part.new_lengths for part in made)])
    return Words(
        ids=ids,
        offsets=offsets,
        before=_before(columns, ids, offsets, chosen),
        within=within,
        open=np.concatenate([np.zeros(0, np.bool_), *(part.open for part in made)]),
        chars=np.concatenate([np.zeros(0, np.uint32), *(part.new_chars for part in made)]),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        kinds=np.concatenate([np.zeros(0, np.uint8), *(part.new_kinds for part in made)]),
        markers=tuple(markers.names),
        covered=covered,
    )


def _within(columns: Columns, most_chars: int) -> tuple[Bools, float]:
    """Which edges most requests pass, all above them included, and the share of all characters that they stand for."""
    chosen, chars = columns.kept.copy(), columns.chars
    if chars[chosen].sum() > most_chars:
        order = np.lexsort((columns.hashes, -columns.counts))
        order = order[columns.kept[order]]
        chosen[order[np.cumsum(chars[order]) > most_chars]] = False
    chosen = columns.with_those_above(chosen)
    passed = chars * columns.counts
    return chosen, float(passed[chosen].sum() / max(1, passed.sum()))


def _with_paths(columns: Columns, within: Bools, also: Sequence[int]) -> Bools:
    """Those edges, and the paths to some nodes."""
    chosen = within.copy()
    for node in also:
        number = node
        while number >= 0 and not chosen[number]:
            chosen[number] = columns.kept[number]
            number = columns.parents[number]
    return chosen


class _Markers:
    """Chat markers stand for one character each, of a plane that no text uses."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def replace(self, text: str) -> str:
        for name in sorted(set(_MARKER.findall(text))):
            if name not in self.names and len(self.names) < _MOST_MARKERS:
                self.names[name] = chr(_FIRST_MARKER + len(self.names))
            text = text.replace(name, self.names.get(name, name))
        return text


@dataclass(frozen=True)
class _Batch:
    """``text`` holds the edges' texts, :data:`_SEPARATOR` after each."""

    text: str
    edges: list[int]


def _batches(nodes: Sequence[Node], chosen: Bools, markers: _Markers) -> Iterator[_Batch]:
    """The edges' texts, some at a time; each begins with the word that its parent left open, and leaves its own."""
    carried = [""] * len(nodes)
    numbers = np.flatnonzero(chosen).tolist()
    for start in range(0, len(numbers), _BATCH_EDGES):
        some = numbers[start : start + _BATCH_EDGES]
        texts: list[str] = []
        edges: list[int] = []
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
            size += end
            if size > _BATCH_CHARS:
                yield _batch(texts, edges, markers)
                texts, edges, size = [], [], 0
        if texts:
            yield _batch(texts, edges, markers)


def _batch(texts: list[str], edges: list[int], markers: _Markers) -> _Batch:
    whole = _SEPARATOR.join([*texts, ""])
    if whole.count(_SEPARATOR) > len(texts):
        whole = _SEPARATOR.join([*(text.replace(_SEPARATOR, " ") for text in texts), ""])
    return _Batch(markers.replace(whole), edges)


def _tails(texts: Sequence[str]) -> list[int]:
    """How many characters of each edge's own end may begin a word; -1 where a closer look is needed."""
    wide = LONGEST_WORD + 1
    ends = "".join([text[-wide:].rjust(wide) for text in texts])
    points = np.frombuffer(ends.encode("utf-32-le", "surrogatepass"), np.uint32).reshape(len(texts), wide)[:, ::-1]
    kinds = kinds_of_characters()[points]
    same = kinds == kinds[:, :1]
    run = np.where(same.all(axis=1), wide, np.argmin(same, axis=1))
    run[(run > LONGEST_WORD) | ~np.isin(kinds[:, 0], list(_WORDY))] = 0
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
    if kind not in _WORDY:
        return 0
    run = 1
    while run < len(text) and run <= LONGEST_WORD and kinds[ord(text[-run - 1])] == kind:
        run += 1
    return run if run <= LONGEST_WORD else 0


@dataclass(frozen=True)
class _Part:
    edges: list[int]
    counts: Ints
    ids: NDArray[np.int32]
    open: Bools
    new_lengths: Ints
    new_chars: NDArray[np.uint32]
    new_kinds: NDArray[np.uint8]


def _read_batch(batch: _Batch, interner: Interner) -> _Part:
    points = np.frombuffer(batch.text.encode("utf-32-le", "surrogatepass"), np.uint32)
    starts, lengths, kinds = _runs(kinds_of_characters()[points])
    known = len(interner)
    ids = interner.ids(_hashes(points, starts, lengths))
    fresh = np.flatnonzero(ids >= known)
    _, first = np.unique(ids[fresh], return_index=True)
    at, new_lengths = starts[fresh[first]], lengths[fresh[first]]
    ends = np.cumsum(new_lengths)
    places = np.repeat(at - ends + new_lengths, new_lengths) + np.arange(ends[-1] if ends.size else 0)
    bounds = np.searchsorted(starts, np.flatnonzero(points == ord(_SEPARATOR)))
    return _Part(
        edges=batch.edges,
        counts=np.diff(bounds, prepend=0),
        ids=ids.astype(np.int32),
        open=~_in_secret(starts, lengths, kinds),
        new_lengths=new_lengths,
        new_chars=points[places],
        new_kinds=np.minimum(kinds[fresh[first]], SYMBOL),
    )


def _runs(kinds: NDArray[np.uint8]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
    """Start, length and kind of every word; the last character is a space."""
    begins = kinds >= SYMBOL
    begins[0] = True
    begins[1:] |= kinds[1:] != kinds[:-1]
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(kinds))
    kind = kinds[starts]
    long = np.flatnonzero((lengths > LONGEST_NUMBER) & (kind == DIGITS) | (lengths > LONGEST_WORD) & (kind != SPACE))
    if long.size:
        step = _LONGEST[kind[long]]
        parts = -(-lengths[long] // step)
        nth = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        begins[np.repeat(starts[long], parts) + nth * np.repeat(step, parts)] = True
        starts = np.flatnonzero(begins)
        lengths = np.diff(starts, append=len(kinds))
        kind = kinds[starts]
    words = kind != SPACE
    return starts[words], lengths[words], kind[words]


@cache
def _powers(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Powers of the base modulo 2^64, and of its inverse."""
    made = []
    for base in (_HASH_BASE, pow(_HASH_BASE, -1, 1 << 64)):
        powers = np.full(size, base, np.uint64)
        powers[0] = 1
        made.append(np.multiply.accumulate(powers))
    return made[0], made[1]


def _hashes(points: NDArray[np.uint32], starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """A polynomial hash modulo 2^64 of each word, from sums over all that comes before."""
    powers, inverses = _powers(1 << (len(points) - 1).bit_length())
    sums = np.zeros(len(points) + 1, np.uint64)
    np.cumsum((points.astype(np.uint64) + np.uint64(1)) * powers[: len(points)], out=sums[1:])
    hashes: NDArray[np.uint64] = (sums[starts + lengths] - sums[starts]) * inverses[starts]
    return hashes


def _in_secret(starts: Ints, lengths: Ints, kinds: NDArray[np.uint8]) -> Bools:
    """Whether each word stands in a run of letters, digits and joiners that may be a key, an id or an address.

    That is: 16 characters or more with letters and digits, or an ``@`` with something beside it.
    """
    if not len(starts):
        return np.zeros(0, np.bool_)
    joins = (kinds != UNSPACED) & (kinds != SYMBOL)
    apart = np.ones(len(starts), np.bool_)
    apart[1:] = (starts[1:] != starts[:-1] + lengths[:-1]) | ~(joins[1:] & joins[:-1])
    first = np.flatnonzero(apart)
    last = np.append(first[1:], len(starts)) - 1
    sizes = starts[last] + lengths[last] - starts[first]
    suspect = np.flatnonzero(last > first)
    secret = np.zeros(len(first), np.bool_)
    if suspect.size:
        inside = np.zeros(len(starts) + 1, np.uint8)
        inside[:-1] = 1 << kinds
        bits = np.bitwise_or.reduceat(inside, np.stack([first[suspect], last[suspect] + 1], axis=1).ravel())[::2]
        mixed = (bits >> LETTERS & bits >> DIGITS & 1).astype(np.bool_) & (sizes[suspect] >= _SECRET_CHARS)
        secret[suspect] = mixed | (bits >> AT & 1).astype(np.bool_)
    return np.repeat(secret, last - first + 1)


def _before(columns: Columns, ids: NDArray[np.int32], offsets: Ints, chosen: Bools) -> Ints:
    """The word that precedes each edge's own: the last of the nearest edge above that has one."""
    last = np.full(len(columns.parents), -1, np.int64)
    some = np.diff(offsets) > 0
    last[some] = ids[offsets[1:][some] - 1]
    parents = np.array(columns.parents, np.int64)
    for number in np.flatnonzero(~some & chosen & (parents >= 0)).tolist():
        last[number] = last[parents[number]]
    return np.where(parents >= 0, last[parents], -1)
