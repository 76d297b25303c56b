"""Block names against the plainest model there is: a tuple of blocks stands for itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from preheat.blocks.accesses import Accesses, AccessLog
from preheat.blocks.runs import runs_of

SIZE = 2
prompts = st.text("ab😀\ud800", max_size=11)
partitions = st.sampled_from([None, "a", "b"])


def chains_of(accesses: Accesses) -> list[list[int]]:
    starts = accesses.starts.tolist()
    return [accesses.ids[begin:end].tolist() for begin, end in pairwise(starts)]


def renumbered(chains: list[list[object]]) -> list[list[int]]:
    numbers: dict[object, int] = {}
    return [[numbers.setdefault(name, len(numbers)) for name in chain] for chain in chains]


@given(st.lists(st.tuples(prompts, partitions), max_size=25))
def test_equal_ids_are_equal_prefixes_of_one_partition(log: list[tuple[str, str | None]]) -> None:
    collected = AccessLog(SIZE)
    for number, (prompt, partition) in enumerate(log):
        collected.add_text(prompt, partition, float(number) if number % 3 else None)
    accesses = collected.finish()
    expected: list[list[object]] = [
        [(partition, prompt[:end]) for end in range(SIZE, len(prompt) + 1, SIZE)] for prompt, partition in log
    ]
    assert chains_of(accesses) == renumbered(expected)
    assert accesses.lengths.tolist() == [len(prompt) for prompt, _ in log]
    assert accesses.distinct == len({name for chain in expected for name in chain})
    assert np.isnan(accesses.times_s).tolist() == [number % 3 == 0 for number in range(len(log))]


@given(st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=5), partitions), max_size=25))
def test_ids_of_a_trace_count_with_what_stands_before_them(log: list[tuple[list[int], str | None]]) -> None:
    collected = AccessLog(512, in_tokens=True)
    for blocks, partition in log:
        collected.add_ids(blocks, partition, 0.0, 512 * len(blocks))
    expected: list[list[object]] = [
        [(partition, tuple(blocks[:end])) for end in range(1, len(blocks) + 1)] for blocks, partition in log
    ]
    assert chains_of(collected.finish()) == renumbered(expected)


def test_text_is_named_alike_in_one_batch_and_in_several() -> None:
    prompts = [f"{number % 7}" * 3_000 + "x" * 100_000 for number in range(60)]
    collected = AccessLog()
    for prompt in prompts:
        collected.add_text(prompt)
    accesses = collected.finish()
    blocks = 103_000 // 64
    assert accesses.blocks == 60 * blocks
    assert accesses.distinct == 7 * blocks


def test_nothing_is_no_block() -> None:
    accesses = AccessLog().finish()
    assert (accesses.requests, accesses.blocks, accesses.distinct) == (0, 0, 0)
    assert len(runs_of(accesses).runs) == 0


@given(st.lists(prompts, max_size=25))
def test_runs_are_the_blocks_that_always_come_together(log: list[str]) -> None:
    collected = AccessLog(SIZE)
    for prompt in log:
        collected.add_text(prompt)
    accesses = collected.finish()
    runs = runs_of(accesses)
    chains = chains_of(accesses)
    begins = np.concatenate(([0], np.cumsum(runs.blocks)))
    unrolled = []
    for begin, end in pairwise(runs.starts.tolist()):
        chain: list[int] = []
        for at, run in enumerate(runs.runs[begin:end].tolist()):
            assert runs.parents[run] == (runs.runs[begin + at - 1] if at else -1)
            chain += range(begins[run], begins[run + 1])
        unrolled.append(chain)
    assert unrolled == chains
    asked = {block for chain in chains for block in chain}
    users = {block: frozenset(number for number, chain in enumerate(chains) if block in chain) for block in asked}
    assert len(runs.blocks) == len({(users[block], chain[0]) for chain in chains for block in chain})


@given(st.lists(st.tuples(prompts, st.integers(0, 3)), max_size=25))
def test_requests_stand_in_order_of_time(log: list[tuple[str, int]]) -> None:
    mixed, ordered = AccessLog(SIZE), AccessLog(SIZE)
    for prompt, time_s in log:
        mixed.add_text(prompt, None, float(time_s))
    order = sorted(range(len(log)), key=lambda number: log[number][1])
    for number in order:
        ordered.add_text(log[number][0], None, float(log[number][1]))
    accesses = mixed.finish()
    assert chains_of(accesses) == chains_of(ordered.finish())
    assert accesses.order.tolist() == order
    assert accesses.lengths.tolist() == [len(log[number][0]) for number in order]
