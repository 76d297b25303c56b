"""Words in an array of code points: where they are, what names them, and which may be parts of secrets."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from preheat.mine.characters import AT, DIGITS, LETTERS, LONGEST_NUMBER, LONGEST_WORD, SPACE, SYMBOL, UNSPACED

_LONGEST = np.array([0, LONGEST_WORD, LONGEST_WORD, LONGEST_NUMBER, 1, 1, 1])
_SECRET_CHARS = 16
_HASH_BASE = 0x9E3779B97F4A7C15

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def runs(kinds: NDArray[np.uint8]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
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


def hashes_of(points: NDArray[np.uint32], starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """A polynomial hash modulo 2^64 of each word, from sums over all that comes before."""
    powers, inverses = _powers(1 << (len(points) - 1).bit_length())
    sums = np.zeros(len(points) + 1, np.uint64)
    np.cumsum((points.astype(np.uint64) + np.uint64(1)) * powers[: len(points)], out=sums[1:])
    hashes: NDArray[np.uint64] = (sums[starts + lengths] - sums[starts]) * inverses[starts]
    return hashes


def in_secret(starts: Ints, lengths: Ints, kinds: NDArray[np.uint8]) -> Bools:
    """Whether each word stands in a run of letters, digits and joiners that may be a key, an id or an address.

    That is: 16 characters or more with letters and digits, or an ``@`` with something beside it.
    """
    if not len(starts):
        return np.zeros(0, np.bool_)
    first, last = _joined(starts, lengths, (kinds != UNSPACED) & (kinds != SYMBOL))
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


def may_be_hidden(starts: Ints, lengths: Ints, kinds: NDArray[np.uint8], ends: Ints) -> Bools:
    """Whether each word stands where redaction may hide something, which nobody looked at to see.

    That is beside digits or a long run without white space, or at the beginning or the end of an edge's text; the texts
    end at ``ends``.
    """
    if not len(starts):
        return np.zeros(0, np.bool_)
    first, last = _joined(starts, lengths, kinds != UNSPACED)
    digits = np.concatenate([[0], np.cumsum(kinds == DIGITS)])
    stops = starts[last] + lengths[last]
    at_end = np.isin(stops, ends) | np.isin(starts[first], np.concatenate([[0], ends + 1]))
    found = (digits[last + 1] > digits[first]) | at_end
    plain, final = _joined(starts, lengths, (kinds != UNSPACED) & (kinds != SYMBOL))
    long = starts[final] + lengths[final] - starts[plain] >= _SECRET_CHARS
    return np.asarray(np.repeat(found, last - first + 1) | np.repeat(long, final - plain + 1))


def _joined(starts: Ints, lengths: Ints, joins: Bools) -> tuple[Ints, Ints]:
    """First and last word of each run of words that touch and may be joined."""
    apart = np.ones(len(starts), np.bool_)
    apart[1:] = (starts[1:] != starts[:-1] + lengths[:-1]) | ~(joins[1:] & joins[:-1])
    first = np.flatnonzero(apart)
    return first, np.append(first[1:], len(starts)) - 1
