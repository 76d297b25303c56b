"""The capacity curve: denominators, windows, lengths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.blocks.accesses import AccessLog
from preheat.blocks.curve import capacity_curve, ladder


def test_compulsory_and_avoidable_misses_are_apart() -> None:
    log = AccessLog(64)
    for time_s, letter in enumerate("abab"):
        log.add_text(letter * 128 + "!" * 10, None, float(time_s))
    curve = capacity_curve(log.finish(), ["lru", "optimal"], [2, 3, 4])
    assert (curve.requests, curve.blocks, curve.distinct_blocks, curve.length) == (4, 8, 4, 4 * 138)
    assert (curve.compulsory_blocks, curve.ceiling_blocks, curve.ceiling_hit_rate) == (4, 4, 0.5)
    lru, optimal = curve.policies
    assert lru.hit_blocks == [0, 2, 4]
    assert optimal.hit_blocks == [2, 3, 4]
    assert lru.avoidable_blocks == [4 - hit for hit in lru.hit_blocks]
    assert optimal.length_hit_rate == pytest.approx([64 * hit / (4 * 138) for hit in optimal.hit_blocks])


def test_a_last_block_that_is_not_full_counts_as_what_it_holds() -> None:
    log = AccessLog(512, in_tokens=True)
    for length in (1000, 1000, 700):
        log.add_ids([1, 2], None, 0.0, length)
    log.add_ids([1, 3], None, 0.0, 900)
    curve = capacity_curve(log.finish(), ["lru"], [3])
    assert curve.ceiling_blocks == 5
    assert curve.ceiling_length_hit_rate == pytest.approx((1000 + 700 + 512) / 3600)
    assert curve.policies[0].length_hit_rate == [curve.ceiling_length_hit_rate]


def test_what_comes_before_the_window_warms_but_does_not_count() -> None:
    log = AccessLog(1)
    for time_s, prompt in enumerate(["ab", "ab", "ab", "cd"]):
        log.add_text(prompt, None, float(time_s))
    curve = capacity_curve(log.finish(), ["lru"], [4], counted_from_s=1.0)
    assert (curve.requests, curve.blocks, curve.compulsory_blocks) == (3, 6, 2)
    assert curve.policies[0].hit_blocks == [4]
    assert (curve.start_s, curve.counted_from_s, curve.end_s) == (0.0, 1.0, 3.0)


def test_without_lengths_no_rate_by_length() -> None:
    log = AccessLog(16, in_tokens=True)
    log.add_ids([1])
    curve = capacity_curve(log.finish(), ["lru"], [1])
    assert (curve.length, curve.ceiling_length_hit_rate, curve.policies[0].length_hit_rate) == (None, None, [])
    assert curve.start_s is None


@given(st.integers(0, 10**9))
def test_the_ladder_ends_where_everything_fits(distinct: int) -> None:
    sizes = ladder(distinct)
    assert sizes == sorted(set(sizes))
    assert sizes[-1] >= distinct
    assert distinct > sizes[-1] // 2 or sizes == [1]
