"""The prefix cache against its invariants and against a naive model of the same rules."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from preheat.sandbox.cache import Lease, PrefixCache, chain_of

BLOCK = 4
CAPACITY = 7


def served(cache: PrefixCache, tokens: list[int], answer: int = 1) -> int | None:
    """Run one prompt from start to end; its hits in blocks."""
    chain = chain_of(tokens, cache.block_tokens)
    lease = cache.acquire(chain, len(tokens), len(tokens) + answer - 1)
    if lease is None:
        return None
    cache.publish(lease, chain)
    cache.release(lease)
    return lease.hit_blocks


def test_the_last_token_is_never_served_from_the_cache() -> None:
    cache = PrefixCache(100, BLOCK)
    tokens = list(range(3 * BLOCK))
    assert served(cache, tokens) == 0
    assert served(cache, tokens) == 2
    assert served(cache, [*tokens, 1]) == 3
    assert served(cache, tokens[: 2 * BLOCK + 1]) == 2


@pytest.mark.parametrize("changed", range(3 * BLOCK))
def test_a_changed_token_loses_its_block_and_all_that_follow(changed: int) -> None:
    cache = PrefixCache(100, BLOCK)
    tokens = list(range(3 * BLOCK + 1))
    served(cache, tokens)
    other = [*tokens[:changed], 999, *tokens[changed + 1 :]]
    assert served(cache, other) == changed // BLOCK


def test_adapter_and_salt_share_nothing() -> None:
    roots = [(None, None), ("a", None), (None, "a"), ("b", None), ("a", "a"), ("None", None)]
    chains = [chain_of(range(8), BLOCK, adapter=adapter, cache_salt=salt) for adapter, salt in roots]
    assert len({name for chain in chains for name in chain}) == 2 * len(roots)


def test_blocks_are_found_only_after_they_are_published() -> None:
    cache = PrefixCache(100, BLOCK)
    tokens = list(range(9))
    chain = chain_of(tokens, BLOCK)
    leader, follower = cache.acquire(chain, 9, 9), cache.acquire(chain, 9, 9)
    assert leader is not None
    assert follower is not None
    assert (leader.hit_blocks, follower.hit_blocks) == (0, 0)
    cache.publish(leader, chain)
    assert cache.lookup(chain, 9) == 2
    assert cache.used_blocks == 6
    cache.publish(follower, chain)
    assert cache.used_blocks == 4  # two shared, and the unfinished block of each
    cache.release(leader)
    assert cache.used_blocks == 3
    cache.release(follower)
    assert (cache.used_blocks, cache.visible_blocks) == (0, 2)


def test_the_deepest_block_of_the_oldest_prompt_goes_first() -> None:
    cache = PrefixCache(6, BLOCK)
    old, new = list(range(9)), list(range(100, 109))
    served(cache, old)
    served(cache, new)
    served(cache, list(range(200, 212)))  # three blocks: two are free, one must go
    assert cache.lookup(chain_of(old, BLOCK), 9) == 1
    assert cache.lookup(chain_of(new, BLOCK), 9) == 2


def test_running_requests_are_never_evicted() -> None:
    cache = PrefixCache(4, BLOCK)
    chain = chain_of(range(12), BLOCK)
    lease = cache.acquire(chain, 12, 12)
    assert lease is not None
    cache.publish(lease, chain)
    assert served(cache, list(range(100, 108))) is None
    assert served(cache, list(range(100, 104))) == 0
    assert cache.lookup(chain, 13) == 3
    assert not cache.reset()
    cache.release(lease)
    assert cache.reset()
    assert cache.lookup(chain, 13) == 0


def test_an_answer_is_kept_with_its_prompt() -> None:
    cache = PrefixCache(100, BLOCK)
    prompt, answer = [1, 2, 3], [4, 5, 6, 7, 8]
    lease = cache.acquire(chain_of(prompt, BLOCK), 3, 7)
    assert lease is not None
    cache.publish(lease, [])
    cache.publish(lease, chain_of(prompt + answer[:-1], BLOCK))
    cache.release(lease)
    assert cache.visible_blocks == 1


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 5))
def test_chains_are_prefixes_exactly_where_their_tokens_are(tokens: list[int], block: int) -> None:
    whole = chain_of(tokens, block)
    assert len(whole) == len(tokens) // block
    for cut in range(len(tokens)):
        assert chain_of(tokens[:cut], block) == whole[: cut // block]


@dataclass
class NaiveRequest:
    """A running request of the naive model: prefixes as tuples, blocks counted one by one."""

    tokens: tuple[int, ...]
    total: int
    found: int
    shown: int
    lease: Lease
    published: bool = field(default=False)


class AgainstTheNaiveModel(RuleBasedStateMachine):
    """The naive model keeps whole prefixes as tuples with the time of last release, and searches through all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = PrefixCache(CAPACITY, BLOCK)
        self.running: list[NaiveRequest] = []
        self.known: dict[tuple[int, ...], int] = {}
        self.now = 0

    def _prefix(self, tokens: tuple[int, ...], blocks: int) -> tuple[int, ...]:
        return tokens[: blocks * BLOCK]

    def _in_use(self, prefix: tuple[int, ...]) -> bool:
        blocks = len(prefix) // BLOCK
        return any(r.shown >= blocks and self._prefix(r.tokens, blocks) == prefix for r in self.running)

    def _private(self) -> int:
        return sum(-(-r.total // BLOCK) - r.shown for r in self.running)

    @rule(heads=st.lists(st.integers(0, 1), min_size=1, max_size=4), tail=st.integers(0, 3), answer=st.integers(1, 6))
    def start(self, heads: list[int], tail: int, answer: int) -> None:
        tokens = tuple(head for head in heads for _ in range(BLOCK))[: len(heads) * BLOCK - tail]
        total = len(tokens) + answer - 1
        chain = chain_of(tokens, BLOCK)
        found = 0
        while (found + 1) * BLOCK < len(tokens) and self._prefix(tokens, found + 1) in self.known:
            found += 1
        needed = max(0, -(-total // BLOCK) - found)
        mine = {self._prefix(tokens, blocks) for blocks in range(1, found + 1)}
        idle = [prefix for prefix in self.known if prefix not in mine and not self._in_use(prefix)]
        free = CAPACITY - len(self.known) - self._private()
        before = self.cache.resident()
        lease = self.cache.acquire(chain, len(tokens), total)
        if needed > free + len(idle):
            assert lease is None
            assert self.cache.resident() == before
            return
        assert lease is not None
        assert lease.hit_blocks == found
        for prefix in sorted(idle, key=lambda prefix: self.known[prefix])[: max(0, needed - free)]:
            del self.known[prefix]
        self.running.append(NaiveRequest(tokens, total, found, found, lease))

    @precondition(lambda self: any(not r.published for r in self.running))
    @rule(data=st.data())
    def finish_prefill(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from([r for r in self.running if not r.published]))
        self.cache.publish(request.lease, chain_of(request.tokens, BLOCK))
        request.published = True
        request.shown = len(request.tokens) // BLOCK
        for blocks in range(1, request.shown + 1):
            self.known.setdefault(self._prefix(request.tokens, blocks), 0)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.running))
        self.running.remove(request)
        self.cache.release(request.lease)
        self.cache.release(request.lease)
        for blocks in range(request.shown, 0, -1):
            self.now += 1
            self.known[self._prefix(request.tokens, blocks)] = self.now

    @rule()
    def reset(self) -> None:
        assert self.cache.reset() == (not self.running)
        if not self.running:
            self.known.clear()

    @invariant()
    def the_same_prefixes_are_resident(self) -> None:
        assert self.cache.resident() == {chain_of(prefix, BLOCK)[-1] for prefix in self.known}

    @invariant()
    def never_above_capacity(self) -> None:
        assert self.cache.allocated_blocks <= CAPACITY
        assert self.cache.allocated_blocks == len(self.known) + self._private()
        idle = [prefix for prefix in self.known if not self._in_use(prefix)]
        assert self.cache.used_blocks == self.cache.allocated_blocks - len(idle)

    @invariant()
    def a_parent_is_resident_while_its_child_is(self) -> None:
        resident = self.cache.resident()
        for prefix in self.known:
            assert set(chain_of(prefix, BLOCK)) <= resident

    @invariant()
    def evictable_blocks_are_those_that_nobody_holds(self) -> None:
        idle = [prefix for prefix in self.known if not self._in_use(prefix)]
        assert set(self.cache.eviction_order()) == {chain_of(prefix, BLOCK)[-1] for prefix in idle}


AgainstTheNaiveModel.TestCase.settings = settings(max_examples=40, stateful_step_count=40)
TestAgainstTheNaiveModel = AgainstTheNaiveModel.TestCase
