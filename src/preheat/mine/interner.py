"""Numbers for keys, a whole array at a time: an open-addressing hash table in NumPy, where sorting would cost more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FULLEST = 0.4

Keys = NDArray[np.uint64]
Ids = NDArray[np.int64]


class Interner:
    """Gives equal keys equal numbers: 0, 1, 2... as new keys come, those of one call in ascending order of the key."""

    def __init__(self, bits: int = 16) -> None:
        self._keys: Keys = np.zeros(1 << bits, np.uint64)
        self._ids: NDArray[np.int32] = np.full(1 << bits, -1, np.int32)
        self._bits = bits
        self._known: list[Keys] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def keys(self) -> Keys:
        """All keys, in the order of their numbers."""
        return np.concatenate([np.zeros(0, np.uint64), *self._known])

    def ids(self, keys: Keys) -> Ids:
        """The number of each of ``keys``, shape ``[len(keys)]``; new keys are given one."""
        found = self._look_up(keys)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            fresh = np.unique(keys[missing])
            self._known.append(fresh)
            self._count += len(fresh)
            if self._count > _FULLEST * len(self._keys):
                self._grow()
            else:
                self._insert(fresh, np.arange(self._count - len(fresh), self._count))
            found[missing] = self._look_up(keys[missing])
        return found

    def _slots(self, keys: Keys) -> Ids:
        mixed = keys * _ODD
        mixed ^= mixed >> np.uint64(32)
        return ((mixed * _ODD) >> np.uint64(64 - self._bits)).astype(np.int64)

    def _look_up(self, keys: Keys) -> Ids:
        """Numbers, -1 for keys that are not there."""
        slots = self._slots(keys)
        found = self._ids[slots].astype(np.int64)
        astray = np.flatnonzero((found >= 0) & (self._keys[slots] != keys))
        slots = slots[astray]
        while astray.size:  # linear probing, for the few whose place was taken
            slots = (slots + 1) % len(self._keys)
            there = self._ids[slots]
            found[astray] = there
            on = (there >= 0) & (self._keys[slots] != keys[astray])
            astray, slots = astray[on], slots[on]
        return found

    def _insert(self, keys: Keys, ids: NDArray[Any]) -> None:
        """Distinct keys that are not there, into free places."""
        slots = self._slots(keys)
        while keys.size:
            free = self._ids[slots] < 0
            self._keys[slots[free]], self._ids[slots[free]] = keys[free], ids[free]
            lost = self._keys[slots] != keys  # one key of those that wanted a place has got it
            keys, ids, slots = keys[lost], ids[lost], (slots[lost] + 1) % len(self._keys)

    def _grow(self) -> None:
        while self._count > _FULLEST * (1 << self._bits):
            self._bits += 1
        self._keys, self._ids = np.zeros(1 << self._bits, np.uint64), np.full(1 << self._bits, -1, np.int32)
        self._insert(self.keys(), np.arange(self._count))
