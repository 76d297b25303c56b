"""Subwords without a model: byte-pair encoding's merges, learnt from the log's own words, many pairs a round.

A vocabulary of whole words is not bounded and pieces of a fixed length mean nothing, so frequent neighbours are joined
as in byte-pair encoding (Sennrich, Haddow and Birch 2016), on characters. Instead of one pair at a time, all pairs at
least a quarter as frequent as the most frequent one are joined at once; where two overlap, the more frequent wins. Some
tens of passes over the distinct words take the place of thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preheat.mine.characters import LETTERS, UNSPACED
from preheat.mine.words import Words

INSIDE = "##"
"""Before a piece that continues a word, as in WordPiece."""
UNKNOWN = "\ufffd"
LONGEST_UNSPACED = 4
"""Characters of a piece in scripts without spaces, where a longer one would be a phrase."""
MOST_SUBWORDS = 50_000
_MOST_BUCKET_BITS = 18
_ODD = np.uint32(0x9E3779B1)
_AT_ONCE = 0.25
_ROUNDS = 80

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Subwords:
    """``vocabulary`` holds the distinct subwords; word ``w`` consists of ``ids[starts[w]:starts[w + 1]]``."""

    vocabulary: list[str]
    ids: Ints
    starts: Ints


def learn(words: Words, weights: Floats, most: int, least: float = 4.0) -> Subwords:
    """Split the distinct words, of ``weights`` each, into at most ``most`` distinct subwords.

    Pairs are joined while the best one weighs ``least`` or more. Numbers and symbols stay as they are; where
    characters alone would be too many, the rarest become :data:`UNKNOWN`.
    """
    most = min(most, MOST_SUBWORDS)
    lengths = np.diff(words.starts)
    spelt = (words.kinds == LETTERS) | (words.kinds == UNSPACED)
    letters = np.repeat(spelt, lengths)
    word = np.repeat(np.arange(len(lengths)), lengths)[letters]
    first = np.zeros(len(words.chars), np.bool_)
    first[words.starts[:-1]] = True
    inside = ~first[letters] & (words.kinds == LETTERS)[word]
    points, symbols = np.unique(words.chars[letters].astype(np.int64) * 2 + inside, return_inverse=True)
    alphabet = [(INSIDE if key % 2 else "") + _character(key // 2) for key in points.tolist()]
    symbols, alphabet = _bounded(symbols, alphabet, weights[word], most // 2)
    others = np.array(sorted(np.flatnonzero(~spelt).tolist(), key=words.text), np.int64)
    names = [words.text(index) for index in others.tolist()]
    other, names = _bounded(np.arange(len(others)), names, weights[others], most // 4)
    merging = _Merging(symbols, word, weights, words.kinds == LETTERS, alphabet)
    for _ in range(_ROUNDS):
        if not merging.round(most - len(names), least):
            break
    pieces = np.ones(len(lengths), np.int64)
    pieces[spelt] = np.bincount(merging.word, minlength=len(lengths))[spelt]
    ids = np.zeros(pieces.sum(), np.int64)
    ids[np.repeat(spelt, pieces)] = merging.symbols
    number = np.zeros(len(lengths), np.int64)
    number[others] = len(merging.strings) + other
    ids[~np.repeat(spelt, pieces)] = number[~spelt]
    return _ordered(merging.strings + names, ids, pieces)


def _character(point: int) -> str:
    return UNKNOWN if 0xD800 <= point < 0xE000 else chr(point)


def _bounded(symbols: Ints, names: list[str], weights: Floats, most: int) -> tuple[Ints, list[str]]:
    """The ``most`` heaviest symbols; the others become one."""
    if len(names) <= max(1, most):
        return symbols, names
    order = np.argsort(-np.bincount(symbols, weights, len(names)), kind="stable")
    kept = np.sort(order[: max(0, most - 1)])
    number = np.full(len(names), len(kept))
    number[kept] = np.arange(len(kept))
    return number[symbols], [names[index] for index in kept.tolist()] + [UNKNOWN]


class _Merging:
    """Words as rows of symbols, joined round by round. Equal strings are one symbol, however they came about."""

    def __init__(
        self, symbols: Ints, word: Ints, weights: Floats, spaced: NDArray[np.bool_], strings: list[str]
    ) -> None:
        self.symbols = symbols.astype(np.uint32)
        self.word = word
        self.strings = list(strings)
        self._weights = weights[word].astype(np.float32)
        self._limit = np.where(spaced[word], 255, LONGEST_UNSPACED).astype(np.uint8)
        self._inner = np.append(word[1:] == word[:-1], False)
        self._number = {string: index for index, string in enumerate(strings)}
        self._chars = [len(string.removeprefix(INSIDE)) for string in strings]

    def round(self, most: int, least: float) -> bool:
        """Join the most frequent pairs; false where none is left that may be."""
        room = most - len(self.strings)
        chars = np.array(self._chars, np.uint8)[self.symbols]
        at = np.flatnonzero(self._inner[:-1] & (chars[:-1] + chars[1:] <= self._limit[:-1]))
        if room <= 0 or not at.size:
            return False
        keys = ((self.symbols[at] << np.uint32(16)) | self.symbols[at + 1]).astype(np.uint32)
        at, pair, found, counts = _frequent(at, keys, self._weights[at], least)
        if not at.size:
            return False
        if len(found) > room:
            counts[np.argsort(-counts, kind="stable")[room:]] = 0.0
        score = np.zeros(len(self.symbols) + 1)
        score[at] = counts[pair]
        best = (score[at] > np.where(at > 0, score[at - 1], 0.0)) & (score[at] >= score[at + 1])
        at, pair = at[best], pair[best]
        joined = np.zeros(len(found), np.uint32)
        for index in np.unique(pair).tolist():
            joined[index] = self._join(*divmod(int(found[index]), 1 << 16))
        self.symbols[at] = joined[pair]
        self._inner[at] = self._inner[at + 1]
        kept = np.ones(len(self.symbols), np.bool_)
        kept[at + 1] = False
        self.symbols, self.word, self._weights = self.symbols[kept], self.word[kept], self._weights[kept]
        self._limit, self._inner = self._limit[kept], self._inner[kept]
        return True

    def _join(self, left: int, right: int) -> int:
        string = self.strings[left] + self.strings[right].removeprefix(INSIDE)
        number = self._number.setdefault(string, len(self.strings))
        if number == len(self.strings):
            self.strings.append(string)
            self._chars.append(len(string.removeprefix(INSIDE)))
        return number


def _frequent(
    at: Ints, keys: NDArray[np.uint32], weights: NDArray[np.float32], least: float
) -> tuple[Ints, NDArray[np.intp], NDArray[np.uint32], Floats]:
    """Where the pairs stand that weigh a quarter of the heaviest or more: places, their pairs, those pairs and weights.

    Sums over hash buckets, which are never less than a pair's own, leave few places to be counted exactly.
    """
    bits = min(_MOST_BUCKET_BITS, 1 + len(keys).bit_length())
    bucket = ((keys * _ODD) >> np.uint32(32 - bits)).astype(np.int64)
    sums = np.bincount(bucket, weights, 1 << bits)
    near = sums[bucket] >= max(sums.max() * _AT_ONCE, least)
    at, weights = at[near], weights[near]
    found, pair = np.unique(keys[near], return_inverse=True)
    counts: Floats = np.bincount(pair, weights, len(found)).astype(np.float64)
    counts[counts < max(least, counts.max(initial=0.0) * _AT_ONCE)] = 0.0
    enough = counts[pair] > 0
    return at[enough], pair[enough], found, counts


def given(words: Words, split: Callable[[Sequence[str]], Sequence[Sequence[str]]]) -> Subwords:
    """The distinct words as ``split`` cuts them up; a word that it makes nothing of is :data:`UNKNOWN`."""
    number: dict[str, int] = {}
    cut = [pieces or [UNKNOWN] for pieces in split([words.text(word) for word in range(len(words.kinds))])]
    ids = np.array([number.setdefault(piece, len(number)) for pieces in cut for piece in pieces], np.int64)
    return _ordered(list(number), ids, np.array([len(pieces) for pieces in cut], np.int64))


def _ordered(names: Sequence[str], ids: Ints, pieces: Ints) -> Subwords:
    """The subwords in use, in the order of their text, so that nothing depends on the order of the words."""
    used = np.unique(ids).tolist()
    vocabulary = sorted({names[one] for one in used})
    place = {name: index for index, name in enumerate(vocabulary)}
    number = np.zeros(len(names), np.int64)
    number[used] = [place[names[one]] for one in used]
    starts = np.concatenate([[0], np.cumsum(pieces)]).astype(np.int64)
    return Subwords(vocabulary, number[ids], starts)
