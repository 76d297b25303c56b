"""Documents that come back, told from passages that come once."""

from __future__ import annotations

import math

import numpy as np

from preheat.mine.contents import _cut


def test_a_valley_between_two_sorts_is_found_and_none_in_an_even_spread() -> None:
    few, many = np.log2([1, 2, 3, 4, 5]), np.log2([20, 25, 30, 35, 40])
    cut = _cut(np.concatenate([few, many]), np.ones(10))
    assert math.log2(5) < cut < math.log2(20)
    assert _cut(np.log2(np.arange(1, 60)), np.ones(59)) == math.inf
    assert _cut(few, np.ones(5)) == math.inf
    assert _cut(np.concatenate([few, many]), np.array([100.0] * 5 + [1.0] * 5)) == math.inf
