"""Prompts as n-gram TF-IDF vectors (spec 4.1).

The same vectors as scikit-learn's ``TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)`` with our tokens, made with
NumPy alone: importing scikit-learn takes longer than vectorising a whole sample.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np
from scipy.sparse import csr_array

_TOKEN = re.compile(r"[a-z]+|[0-9]+|[^\sa-z0-9]")
"""Words, numbers, and every other character on its own: Chinese needs no word segmenter this way."""
_CHARS = 6_000
"""Characters of a prompt that are vectorised; similarity hardly moves beyond."""


def tfidf(prompts: Sequence[str]) -> csr_array[np.float32]:
    """L2-normalised rows of shape ``[prompts, distinct n-grams]``; a prompt without tokens is a row of zeros.

    A weight is ``(1 + ln tf) * (1 + ln((1 + prompts) / (1 + df)))``, tf counted in the prompt, df in prompts.
    """
    words: defaultdict[str, int] = defaultdict(count().__next__)
    tokens = [np.array([words[word] for word in _TOKEN.findall(text[:_CHARS].lower())], np.int64) for text in prompts]
    grams, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for each in tokens:
        pairs = (each[:-1] + 1) * len(words) + each[1:]
        found, times = np.unique(np.concatenate([each, pairs]), return_counts=True)
        grams.append(found)
        counts.append(times)
    rows = np.repeat(np.arange(len(prompts)), [len(found) for found in grams[1:]])
    distinct, columns = np.unique(np.concatenate(grams), return_inverse=True)
    rarity = 1 + np.log((1 + len(prompts)) / (1 + np.bincount(columns, minlength=len(distinct))))
    weights = (1 + np.log(np.concatenate(counts))) * rarity[columns]
    lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(prompts)))
    weights = (weights / lengths[rows]).astype(np.float32)
    return csr_array((weights, (rows, columns)), shape=(len(prompts), max(1, len(distinct))))
