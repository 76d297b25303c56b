"""Policies and LRU's stack distances against a cache that is kept block by block, and against all that is possible."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.blocks.accesses import AccessLog
from preheat.blocks.distances import stack_depths
from preheat.blocks.policies.policy import POLICIES
from preheat.blocks.runs import Runs, runs_of
from preheat.blocks.simulator import Simulator, replay
from preheat.sandbox.cache import PrefixCache

Chain = tuple[int, ...]
chains = st.lists(st.integers(0, 2), max_size=5).map(tuple)
logs = st.lists(chains, max_size=30)


def runs_in(log: list[Chain]) -> Runs:
    collected = AccessLog(1)
    for chain in log:
        collected.add_ids(chain)
    return runs_of(collected.finish())


def prefixes(chain: Chain) -> list[Chain]:
    return [chain[:end] for end in range(1, len(chain) + 1)]


def leaf_first_lru(log: list[Chain], capacity: int) -> list[int]:
    """Block by block: the top of the stack is kept; a request puts its blocks on top, the deepest lowest."""
    stack: list[Chain] = []
    found = []
    for chain in log:
        asked = prefixes(chain)
        found.append(sum(block in stack[:capacity] for block in asked))
        stack = (asked + [block for block in stack if block not in asked])[:capacity]
    return found


def best_possible(log: list[Chain], capacity: int) -> int:
    """The most blocks that any choice of what to keep finds: every kept set is tried."""
    values: dict[frozenset[Chain], int] = {frozenset(): 0}
    for chain in log:
        asked = prefixes(chain)
        following: dict[frozenset[Chain], int] = {}
        for kept, value in values.items():
            found = value + sum(1 for _ in itertools.takewhile(kept.__contains__, asked))
            there = kept | set(asked)
            for choice in itertools.combinations(sorted(there), min(capacity, len(there))):
                state = frozenset(choice)
                following[state] = max(following.get(state, 0), found)
        values = following
    return max(values.values())


@given(logs, st.integers(1, 12))
def test_lru_is_exact_by_stack_distances_and_by_playing(log: list[Chain], capacity: int) -> None:
    runs = runs_in(log)
    expected = leaf_first_lru(log, capacity)
    assert Simulator(runs).found("lru", capacity).tolist() == expected
    assert replay(runs, capacity, POLICIES["lru"](runs)).tolist() == expected


@given(logs)
def test_the_ceiling_is_all_that_was_seen_before(log: list[Chain]) -> None:
    seen: set[Chain] = set()
    expected = []
    for chain in log:
        expected.append(sum(block in seen for block in prefixes(chain)))
        seen.update(prefixes(chain))
    runs = runs_in(log)
    assert Simulator(runs).ceiling().tolist() == expected
    for policy in POLICIES:
        assert replay(runs, len(seen), POLICIES[policy](runs)).tolist() == expected


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 1), max_size=3).map(tuple), max_size=7), st.integers(1, 3))
def test_optimal_is_the_best_of_all_that_is_possible(log: list[Chain], capacity: int) -> None:
    runs = runs_in(log)
    assert Simulator(runs).found("optimal", capacity).sum() == best_possible(log, capacity)


@given(logs, st.integers(1, 12), st.sampled_from(sorted(POLICIES)))
def test_no_policy_beats_optimal_or_finds_what_was_never_seen(log: list[Chain], capacity: int, policy: str) -> None:
    simulator = Simulator(runs_in(log))
    found = simulator.found(policy, capacity)
    assert found.sum() <= simulator.found("optimal", capacity).sum()
    assert (found <= simulator.ceiling()).all()
    assert (found <= capacity).all()


@given(logs)
def test_lru_and_optimal_never_lose_by_a_larger_cache(log: list[Chain]) -> None:
    simulator = Simulator(runs_in(log))
    for policy in ("lru", "optimal"):
        sums = [int(simulator.found(policy, capacity).sum()) for capacity in range(1, 15)]
        assert sums == sorted(sums)


def plain(ids: list[int]) -> Runs:
    """Blocks that stand alone, so that policies are the textbook's."""
    return runs_in([(block,) for block in ids])


@pytest.mark.parametrize(
    ("policy", "ids", "found"),
    [
        ("lru", [1, 2, 3, 1, 4, 2, 1], [0, 0, 0, 1, 0, 0, 1]),
        ("fifo", [1, 2, 3, 1, 4, 1, 2], [0, 0, 0, 1, 0, 0, 0]),
        ("lfu", [1, 1, 2, 3, 4, 1, 2], [0, 1, 0, 0, 0, 1, 0]),
        ("lru-2", [1, 1, 2, 3, 4, 5, 1], [0, 1, 0, 0, 0, 0, 1]),
        ("sieve", [1, 2, 3, 1, 4, 5, 1, 2], [0, 0, 0, 1, 0, 0, 1, 0]),
        ("optimal", [1, 2, 3, 4, 1, 2, 5, 1, 2, 3], [0, 0, 0, 0, 1, 1, 0, 1, 1, 1]),
    ],
)
def test_textbook_sequences_in_a_cache_of_three(policy: str, ids: list[int], found: list[int]) -> None:
    assert replay(plain(ids), 3, POLICIES[policy](plain(ids))).tolist() == found


def sieve_by_the_book(ids: list[int], capacity: int) -> list[int]:
    """The queue, old to new, with the hand as the paper has it."""
    queue: list[int] = []
    visited: dict[int, bool] = {}
    hand, found = 0, []
    for block in ids:
        found.append(int(block in visited))
        if block in visited:
            visited[block] = True
            continue
        if len(queue) == capacity:
            hand %= len(queue)
            while visited[queue[hand]]:
                visited[queue[hand]] = False
                hand = (hand + 1) % len(queue)
            del visited[queue.pop(hand)]
        queue.append(block)
        visited[block] = False
    return found


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 6))
def test_sieve_on_blocks_that_stand_alone_is_the_papers(ids: list[int], capacity: int) -> None:
    runs = plain(ids)
    assert replay(runs, capacity, POLICIES["sieve"](runs)).tolist() == sieve_by_the_book(ids, capacity)


def test_stack_depths_of_many_accesses_stay_exact() -> None:
    chooser = np.random.default_rng(1)
    ids = chooser.zipf(1.3, 3_000) % 400
    expected, stack = [], list[int]()
    for block in ids.tolist():
        expected.append(stack.index(block) if block in stack else -1)
        stack = [block, *(other for other in stack if other != block)]
    assert stack_depths(plain(ids.tolist())).tolist() == expected


@given(logs, st.integers(5, 12))
def test_lru_is_what_the_sandbox_as_vllm_does(log: list[Chain], capacity: int) -> None:
    """Requests one after another, each as long as its whole blocks; none is larger than the cache."""
    cache = PrefixCache(capacity, 1)
    expected = []
    for chain in log:
        names = [repr(block).encode() for block in prefixes(chain)]
        # One token more than the blocks hold: an engine always computes the last one.
        lease = cache.acquire(names, len(names) + 1, len(names))
        assert lease is not None
        expected.append(lease.hit_blocks)
        cache.publish(lease, names)
        cache.release(lease)
    assert Simulator(runs_in(log)).found("lru", capacity).tolist() == expected
