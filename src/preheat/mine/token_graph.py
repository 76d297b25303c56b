"""The token-flow graph (spec 4.1): subwords, and how often each one follows another, over all prompts of a profile.

The tree's edges hold shared text once, with the number of requests that pass: weighting an edge's transitions with
that number gives the counts over all prompts without reading anything twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from preheat.mine.columns import Columns, columns_of
from preheat.mine.pagerank import pagerank
from preheat.mine.settings import MineSettings
from preheat.mine.subwords import Subwords, given, learn
from preheat.mine.words import Words, read_words
from preheat.records.profile import Profile

_BUCKETS = 32

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Split = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Distinct words → the tokens of each: what a model's own tokenizer may be passed in as."""


@dataclass(frozen=True)
class TokenGraph:
    """A directed graph of ``vocabulary``, which is in the order of its text.

    ``matrix[i, j]`` counts how often subword j follows i, over all requests. ``shown`` marks subwords that may be shown
    to people: see :func:`graph`. ``may_follow`` has the rows and the columns, shape ``[2, n]``, of the transitions that
    may be shown, others where they are ``None``. ``covered`` is the share of the prompts' characters that was read.
    """

    vocabulary: list[str]
    matrix: csr_array[np.float64]
    shown: NDArray[np.bool_]
    covered: float = 1.0
    may_follow: NDArray[np.int32] | None = None

    @cached_property
    def rank(self) -> Floats:
        """PageRank of each subword, shape ``[subwords]``."""
        return pagerank(self.matrix)

    @cached_property
    def in_degree(self) -> Ints:
        """How many distinct subwords precede each one, shape ``[subwords]``."""
        return np.bincount(self.matrix.indices, minlength=len(self.vocabulary))

    def best(self, values: NDArray[Any]) -> list[int]:
        """The subwords that may be shown and have more than 0 of ``values``, most first, else by their text."""
        order = np.argsort(-values, kind="stable")
        found: list[int] = order[self.shown[order] & (values[order] > 0)].tolist()
        return found

    def between(self, places: Sequence[int]) -> coo_array[Any]:
        """The transitions that may be shown between some subwords, which are numbered by their place there."""
        kept = np.array(places, np.int64)
        part = self.matrix[kept][:, kept].tocoo()
        if self.may_follow is None:
            return part
        number = np.full(len(self.vocabulary), -1, np.int64)
        number[kept] = np.arange(len(kept))
        rows, columns = number[self.may_follow]
        both = (rows >= 0) & (columns >= 0)
        fit = np.isin(part.row.astype(np.int64) * len(kept) + part.col, rows[both] * len(kept) + columns[both])
        return coo_array((part.data[fit], (part.row[fit], part.col[fit])), shape=part.shape)


def evened(counts: Floats) -> Floats:
    """1 + log2 of counts, in eighths: text counts more than its repeats, and sums do not depend on their order."""
    return np.round(8.0 * (1.0 + np.log2(np.maximum(1.0, counts)))) / 8.0


class Flow:
    """What a profile's prompts consist of, ready to be counted for all requests or for some."""

    def __init__(
        self, profile: Profile, settings: MineSettings, split: Split | None = None, also: Sequence[int] = ()
    ) -> None:
        self.profile = profile
        self.columns: Columns = columns_of(profile)
        self.words: Words = read_words(profile.nodes, self.columns, settings.topology_chars, also)
        self.counts = self.columns.counts.astype(np.float64)
        self.lengths = np.diff(self.words.offsets)
        self.subwords: Subwords = self._subwords(settings.topology_subwords, split)
        ids, starts = self.subwords.ids, self.subwords.starts
        self._first, self._last = ids[starts[:-1]], ids[starts[1:] - 1]
        inner = np.ones(len(ids), np.bool_)
        inner[starts[1:] - 1] = False
        self._inner = np.flatnonzero(inner)
        self._word_of_inner = np.repeat(np.arange(len(starts) - 1), np.diff(starts) - 1)
        self.shown = self._shown(settings.topology_prompts)

    @property
    def vocabulary(self) -> list[str]:
        return self.subwords.vocabulary

    def matrix(self, edges: Ints, weights: Floats) -> csr_array[np.float64]:
        """Transitions on ``edges`` of the tree, each of those counting with its weight."""
        words = self.words
        at, before, lengths = self._passed(edges)
        ids, each = words.ids[at], np.repeat(weights, lengths)
        known = before >= 0
        inside = np.bincount(ids, each, len(words.kinds))[self._word_of_inner]
        used = inside > 0
        inner = self._inner[used]
        rows = np.concatenate([self._last[words.ids[before[known]]], self.subwords.ids[inner]]).astype(np.int32)
        columns = np.concatenate([self._first[ids[known]], self.subwords.ids[inner + 1]]).astype(np.int32)
        size = len(self.vocabulary)
        made = coo_array((np.concatenate([each[known], inside[used]]), (rows, columns)), shape=(size, size)).tocsr()
        made.sum_duplicates()
        return made

    def may_follow(self, edges: Ints) -> NDArray[np.int32]:
        """Rows and columns of the transitions on ``edges`` of which both ends are open, shape ``[2, n]``."""
        words = self.words
        at, before, _ = self._passed(edges)
        fit = words.open[at] & (before >= 0) & words.open[before]
        seen = np.zeros(len(words.kinds), np.bool_)
        seen[words.ids[at[words.open[at]]]] = True
        inner = self._inner[seen[self._word_of_inner]]
        rows = np.concatenate([self._last[words.ids[before[fit]]], self.subwords.ids[inner]])
        columns = np.concatenate([self._first[words.ids[at[fit]]], self.subwords.ids[inner + 1]])
        return np.stack([rows, columns]).astype(np.int32)

    def _passed(self, edges: Ints) -> tuple[Ints, Ints, Ints]:
        """The places of all words on ``edges``, of the word before each (-1: none), and how many each edge has."""
        words, lengths = self.words, self.lengths[edges]
        ends = np.cumsum(lengths)
        at = np.repeat(words.offsets[edges] - ends + lengths, lengths) + np.arange(ends[-1] if ends.size else 0)
        before = at - 1
        before[(ends - lengths)[lengths > 0]] = words.before[edges][lengths > 0]
        return at, before, lengths

    def _subwords(self, most: int, split: Split | None) -> Subwords:
        if split is not None:
            return given(self.words, split)
        each = np.repeat(evened(self.counts), self.lengths)
        weights = np.bincount(self.words.ids, each, len(self.words.kinds)).astype(np.float64)
        return learn(self.words, weights, most)

    def _shown(self, prompts: int) -> NDArray[np.bool_]:
        """Subwords that ``prompts`` distinct prompts hold at least, none of which begins another one.

        A tree's leaf is one such prompt. An edge above few leaves counts as one of them, and leaves are told apart by
        hash modulo :data:`_BUCKETS`, so that what is counted is never more than the truth.
        """
        prompts = min(prompts, _BUCKETS)
        below, least = self.columns.leaves()
        bucket = (least % np.uint64(_BUCKETS)).astype(np.int64)
        edge = np.repeat(np.arange(len(self.lengths)), self.lengths)[self.words.open]
        ids = self.words.ids[self.words.open]
        held = np.zeros((len(self.words.kinds), _BUCKETS), np.bool_)
        held[ids, bucket[edge]] = True
        held[ids[below[edge] >= prompts]] = True
        tokens = np.zeros((len(self.vocabulary), _BUCKETS), np.bool_)
        word = np.repeat(np.arange(len(self.words.kinds)), np.diff(self.subwords.starts))
        for one in range(_BUCKETS):
            tokens[self.subwords.ids[held[word, one]], one] = True
        shown: NDArray[np.bool_] = tokens.sum(axis=1) >= prompts
        return shown


def graph(profile: Profile, settings: MineSettings | None = None, split: Split | None = None) -> TokenGraph:
    """The token-flow graph of all requests of ``profile``.

    Subwords may be parts of secrets, so only those are marked as ``shown`` that ``settings.topology_prompts`` distinct
    prompts hold, outside of anything that looks like a key, an id or an address, that redaction hides, or that it might
    hide where it did not look; numbers have three digits at most. Of transitions between them, those may be shown that
    are found there once.
    """
    return whole(Flow(profile, settings or MineSettings(), split))


def whole(flow: Flow) -> TokenGraph:
    """The graph of all requests."""
    edges = np.flatnonzero(flow.words.within & (flow.lengths > 0))
    matrix, may_follow = flow.matrix(edges, flow.counts[edges]), flow.may_follow(edges)
    return TokenGraph(flow.vocabulary, matrix, flow.shown, flow.words.covered, may_follow)
