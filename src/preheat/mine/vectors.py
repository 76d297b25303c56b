"""Prompts as n-gram TF-IDF vectors (spec 4.1) of what they share.

The n-grams are long, several prompts have them, and no prompt has one twice: these are the words of templates, while
questions, passages, the marks of chat formats and the syntax of lists and tables fall away. An n-gram's weight squared
is its IDF times the logarithm of how many prompts share it, so that a template that many have outweighs what a few
share by chance.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from preheat.mine.heads import MARK

_TOKEN = re.compile(r"[a-zà-ÿ]+|[0-9]+|[^\sa-zà-ÿ0-9]")
GRAM = 5
SHARED_BY = 3
LEAST = 8
"""Shared n-grams that a prompt must have to be compared at all."""
_CHARS = 3_000
"""Characters read at a prompt's beginning, and again at its end."""
_PRIME = np.uint64(0x9E3779B97F4A7C15)


def shared_vectors(prompts: Sequence[str]) -> csr_array[np.float32]:
    """L2-normalised rows ``[prompts, n-grams that at least three prompts have]``; zeros where there is too little."""
    ids: defaultdict[str, int] = defaultdict(count(1).__next__)
    grams = [np.zeros(0, np.uint64), *(_grams(text, ids) for text in prompts)]
    rows = np.repeat(np.arange(len(prompts)), [len(each) for each in grams[1:]])
    distinct, columns, seen = np.unique(np.concatenate(grams), return_inverse=True, return_counts=True)
    kept = seen[columns] >= SHARED_BY
    rows, columns = rows[kept], columns[kept]
    kept = np.bincount(rows, minlength=len(prompts))[rows] >= LEAST
    rows, columns = rows[kept], columns[kept]
    idf = 1 + np.log((1 + len(prompts)) / (1 + seen[columns]))
    weights = np.sqrt(idf * np.log(seen[columns] / (SHARED_BY - 1)))
    lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(prompts)))
    values = (weights / lengths[rows]).astype(np.float32)
    return csr_array((values, (rows, columns)), shape=(len(prompts), max(1, len(distinct))))


def _grams(text: str, ids: defaultdict[str, int]) -> NDArray[np.uint64]:
    """Hashes of the n-grams that stand once in a text."""
    if len(text) > 2 * _CHARS:
        text = f"{text[:_CHARS]}\n{text[-_CHARS:]}"
    words = _TOKEN.findall(MARK.sub(" ", text).lower())
    tokens = np.array([ids[word] for word in words], np.uint64)
    if len(tokens) < GRAM:
        return np.zeros(0, np.uint64)
    hashes = np.zeros(len(tokens) - GRAM + 1, np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(GRAM):
            hashes = hashes * _PRIME + tokens[offset : len(tokens) - GRAM + 1 + offset]
            hashes ^= hashes >> np.uint64(29)
    found, times = np.unique(hashes, return_counts=True)
    once: NDArray[np.uint64] = found[times == 1]
    return once
