"""Which blocks a log asks for, request by request, as arrays: what cache sizes and policies are tried on.

A block's id stands for the block *and all before it* in its partition, so equal ids mean an equal prefix. Ids are
numbered from 0 in order of first appearance, and say nothing about the text.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from preheat.records.profile import BLOCK_CHARS

Ids = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float64]
_BATCH_CHARS = 1 << 21
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FILLER = "\U0010ffff"
"""No character (Unicode 3.4, D14)."""
_SEED = 0x70726568656174


@dataclass(frozen=True)
class Accesses:
    """``ids[starts[k]:starts[k + 1]]`` are the blocks of request ``k``, from the prompt's beginning.

    ``units`` is what one block stands for, in characters or (``in_tokens``) tokens; ``lengths`` are the whole
    prompts' lengths in the same, NaN where not known; a prompt's last block may stand for less. ``times_s`` are in
    the log's own clock, NaN where the log has none. ``distinct`` is the number of different ids. Requests stand in
    order of time where all have one, else as they were added; ``order[k]`` is request ``k``'s number as added.
    ``names[id]`` is the 64-bit hash behind an id, the same in every log; it may be guessed from text.
    """

    ids: Ids
    starts: Ids
    times_s: Reals
    lengths: Reals
    units: int
    in_tokens: bool
    distinct: int
    order: Ids
    names: Hashes

    @property
    def requests(self) -> int:
        return len(self.starts) - 1

    @property
    def blocks(self) -> int:
        """All blocks asked for, repeats included."""
        return len(self.ids)


class AccessLog:
    """Collects prompts, as text or as the ids of a trace, and names their blocks.

    Names are 64-bit hashes: a multilinear hash of each block's characters (Lemire and Kaser 2014, with random
    multipliers), chained by a sum with one random multiplier for each depth. Two different prefixes among ten
    million have the same name with a probability under 10^-4.
    """

    def __init__(self, units: int = BLOCK_CHARS, *, in_tokens: bool = False, partial: bool = False) -> None:
        """``partial``: what a text has after its last whole block counts as one too, as traces often have it."""
        self.units = units
        self.in_tokens = in_tokens
        self._partial = partial
        self._partitions: dict[Hashable, int] = {}
        self._pending: list[str] = []
        self._pending_chars = 0
        self._pending_salts: list[int] = []
        self._names: list[Hashes] = []
        self._counts: list[int] = []
        self._times_s: list[float] = []
        self._lengths: list[float] = []
        self._multipliers = _mixed(np.arange(units, dtype=np.uint64) + np.uint64(_SEED)) | np.uint64(1)

    def add_text(self, prompt: str, partition: Hashable = None, time_s: float | None = None) -> None:
        """A rendered prompt: its whole blocks; the rest of it counts in its length only, unless ``partial``."""
        whole = len(prompt) // self.units
        if self._partial and whole * self.units < len(prompt):
            whole += 1
        self._count(whole, time_s, len(prompt))
        self._pending.append(prompt[: whole * self.units].ljust(whole * self.units, _FILLER))
        self._pending_salts.append(self._salt(partition))
        self._pending_chars += whole * self.units
        if self._pending_chars >= _BATCH_CHARS:
            self._hash_pending()

    def add_ids(
        self,
        blocks: Sequence[int],
        partition: Hashable = None,
        time_s: float | None = None,
        length: int | None = None,
    ) -> None:
        """A request of a trace that has ids in place of text; ``length`` is the prompt's, in tokens."""
        self._hash_pending()
        self._count(len(blocks), time_s, length)
        contents = _mixed(np.array([block & 0xFFFFFFFFFFFFFFFF for block in blocks], dtype=np.uint64))
        self._names.append(_chained(contents, np.array([len(blocks)]), [self._salt(partition)]))

    def finish(self) -> Accesses:
        """All that was added, in order of time, numbered."""
        self._hash_pending()
        names = np.concatenate(self._names) if self._names else np.zeros(0, np.uint64)
        counts, times_s = np.array(self._counts, np.int64), np.array(self._times_s, np.float64)
        order = np.arange(len(counts))
        if np.any(np.diff(times_s) < 0) and not np.isnan(times_s).any():
            order = np.argsort(times_s, kind="stable")
            names = _reordered(names, counts, order)
        found, first, inverse = np.unique(names, return_index=True, return_inverse=True)
        number, by_appearance = np.empty(len(first), np.int64), np.argsort(first)
        number[by_appearance] = np.arange(len(first))
        return Accesses(
            ids=number[inverse],
            starts=np.concatenate(([0], np.cumsum(counts[order]))).astype(np.int64),
            times_s=times_s[order],
            lengths=np.array(self._lengths, np.float64)[order],
            units=self.units,
            in_tokens=self.in_tokens,
            distinct=len(first),
            order=order,
            names=found[by_appearance],
        )

    def _count(self, blocks: int, time_s: float | None, length: int | None) -> None:
        self._counts.append(blocks)
        self._times_s.append(np.nan if time_s is None else time_s)
        self._lengths.append(np.nan if length is None else length)

    def _salt(self, partition: Hashable) -> int:
        return self._partitions.setdefault(partition, len(self._partitions))

    def _hash_pending(self) -> None:
        if not self._pending:
            return
        counts = np.array([len(text) // self.units for text in self._pending], np.int64)
        encoded = "".join(self._pending).encode("utf-32-le", "surrogatepass")
        characters = np.frombuffer(encoded, np.uint32).reshape(-1, self.units).astype(np.uint64)
        self._names.append(_chained(_mixed(characters @ self._multipliers), counts, self._pending_salts))
        self._pending, self._pending_salts, self._pending_chars = [], [], 0


def _reordered(names: Hashes, counts: Ids, order: Ids) -> Hashes:
    """``names``, request by request, with the requests in another order."""
    begins = np.cumsum(counts) - counts
    moved = counts[order]
    places = np.repeat(begins[order] - (np.cumsum(moved) - moved), moved) + np.arange(len(names))
    moved_names: Hashes = names[places]
    return moved_names


def _chained(contents: Hashes, counts: npt.NDArray[Any], salts: list[int]) -> Hashes:
    """Names of whole prefixes from the hashes of single blocks: request by request, ``counts`` blocks each."""
    ends = np.cumsum(counts)
    begins = np.repeat(ends - counts, counts)
    depths = np.arange(len(contents)) - begins
    sums = np.cumsum(contents * (_mixed(depths.astype(np.uint64)) | np.uint64(1)), dtype=np.uint64)
    before = np.concatenate((np.zeros(1, np.uint64), sums))[begins]
    names: Hashes = sums - before + np.repeat(_mixed(np.array(salts, np.uint64) + np.uint64(1)), counts)
    return names


def _mixed(values: Hashes) -> Hashes:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on every other."""
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    final: Hashes = mixed ^ (mixed >> np.uint64(31))
    return final
