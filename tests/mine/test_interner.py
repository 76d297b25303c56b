"""Numbers for keys, a whole array at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.interner import Interner

KEYS = st.integers(0, 2**64 - 1) | st.integers(0, 40)


@given(st.lists(st.lists(KEYS, max_size=200), max_size=6))
def test_equal_keys_have_equal_numbers_whatever_the_batch(batches: list[list[int]]) -> None:
    interner = Interner(bits=2)
    known: dict[int, int] = {}
    for batch in batches:
        for key in sorted(set(batch) - known.keys()):
            known[key] = len(known)
        assert interner.ids(np.array(batch, np.uint64)).tolist() == [known[key] for key in batch]
    assert len(interner) == len(known)
    assert interner.keys().tolist() == list(known)


def test_keys_that_want_the_same_place_are_told_apart() -> None:
    interner = Interner(bits=19)
    every = np.arange(200_000, dtype=np.uint64) << np.uint64(40)
    ids = interner.ids(every)
    assert len(np.unique(ids)) == len(np.unique(every))
    assert (interner.ids(every[::-1]) == ids[::-1]).all()
