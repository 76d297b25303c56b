"""The words of a prefix tree's edges, as numbers, each edge's text looked at once.

No model is needed and no language is assumed: a word is a run of letters (marks included), a run of letters of a
script that is written without spaces, up to three digits, a chat template's marker such as ``<|im_start|>``, or any
other visible character alone. Working on arrays of code points costs a fraction of what a regular expression does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preheat.mine.characters import SEPARATOR, SYMBOL, kinds_of_characters
from preheat.mine.columns import Columns
from preheat.mine.edge_texts import FIRST_MARKER, Batch, Markers, batches
from preheat.mine.hidden import Hidden
from preheat.mine.interner import Interner
from preheat.mine.word_runs import hashes_of, in_secret, may_be_hidden, runs
from preheat.records.profile import Node

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """The words of all edges in a row, and the distinct ones.

    ``ids`` numbers distinct words, shape ``[words]``; edge ``n`` has those from ``offsets[n]`` to ``offsets[n + 1]``,
    ``before[n]`` is the place in ``ids`` of the word that precedes them, -1 where there is none, ``within[n]`` whether
    it is one of the edges that most requests pass. ``open`` is false for words that stand in what looks like a key or
    an address, that redaction hides, or that it might hide and did not look at. Distinct word ``w`` consists of the
    code points ``chars[starts[w]:starts[w + 1]]`` of one kind, ``kinds[w]``. ``covered`` is the share of the prompts'
    characters that the edges within stand for.
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
        marker = int(points[0]) - FIRST_MARKER
        if 0 <= marker < len(self.markers):
            return self.markers[marker]
        return str(points.tobytes().decode("utf-32-le", "replace"))


def read_words(nodes: Sequence[Node], columns: Columns, most_chars: int, also: Sequence[int] = ()) -> Words:
    """The words of the tree's edges, as far as their text was kept.

    A word over an edge's end belongs to the children; where a prompt's last whole block cuts a word off, it is left
    out, since nobody knows it. Past ``most_chars`` characters of distinct text, the edges that fewest requests pass
    are not looked at, unless they lead to one of the nodes ``also``.
    """
    within, covered = _within(columns, most_chars)
    chosen = _with_paths(columns, within, also)
    interner, markers = Interner(), Markers()
    hidden = Hidden(nodes, columns, chosen)
    made = [_read_batch(batch, interner, hidden) for batch in batches(nodes, chosen, markers)]
    counts = np.zeros(len(nodes), np.int64)
    for part in made:
        counts[part.edges] = part.counts
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ids = np.concatenate([np.zeros(0, np.int32), *(part.ids for part in made)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(part.new_lengths for part in made)])
    return Words(
        ids=ids,
        offsets=offsets,
        before=_before(columns, offsets, chosen),
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


@dataclass(frozen=True)
class _Part:
    edges: list[int]
    counts: Ints
    ids: NDArray[np.int32]
    open: Bools
    new_lengths: Ints
    new_chars: NDArray[np.uint32]
    new_kinds: NDArray[np.uint8]


def _read_batch(batch: Batch, interner: Interner, hidden: Hidden) -> _Part:
    points = np.frombuffer(batch.text.encode("utf-32-le", "surrogatepass"), np.uint32)
    starts, lengths, kinds = runs(kinds_of_characters()[points])
    known = len(interner)
    ids = interner.ids(hashes_of(points, starts, lengths))
    fresh = np.flatnonzero(ids >= known)
    _, first = np.unique(ids[fresh], return_index=True)
    at, new_lengths = starts[fresh[first]], lengths[fresh[first]]
    ends = np.cumsum(new_lengths)
    places = np.repeat(at - ends + new_lengths, new_lengths) + np.arange(ends[-1] if ends.size else 0)
    stops = np.flatnonzero(points == ord(SEPARATOR))
    bounds = np.searchsorted(starts, stops)
    looked, closed = hidden.looked_and_hidden(batch)
    sums = np.concatenate([[0], np.cumsum(closed)])
    secret = in_secret(starts, lengths, kinds) | (sums[starts + lengths] > sums[starts])
    secret |= may_be_hidden(starts, lengths, kinds, stops) & ~looked[starts]
    return _Part(
        edges=batch.edges,
        counts=np.diff(bounds, prepend=0),
        ids=ids.astype(np.int32),
        open=~secret,
        new_lengths=new_lengths,
        new_chars=points[places],
        new_kinds=np.minimum(kinds[fresh[first]], SYMBOL),
    )


def _before(columns: Columns, offsets: Ints, chosen: Bools) -> Ints:
    """The place of the word that precedes each edge's own: the last of the nearest edge above that has one."""
    last = np.full(len(columns.parents), -1, np.int64)
    some = np.diff(offsets) > 0
    last[some] = offsets[1:][some] - 1
    parents = np.array(columns.parents, np.int64)
    for number in np.flatnonzero(~some & chosen & (parents >= 0)).tolist():
        last[number] = last[parents[number]]
    return np.where(parents >= 0, last[parents], -1)
