"""The prefix tree against the plainest model there is: a count per tuple of blocks."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preheat.blocks.bounds import Bounds
from preheat.blocks.totals import Total, totals
from preheat.blocks.tree import TENANT_BITS, UNTIMED, PrefixTree, TreeNode, common_blocks_chars

SIZE = 2
LETTERS = "ab😀\ud800"
"""Few letters, so that prompts share a lot; one outside the BMP, and half a surrogate pair as broken logs have it."""
prompts = st.text(LETTERS, max_size=11)
logs = st.lists(prompts, max_size=25)


def blocks_of(prompt: str) -> tuple[str, ...]:
    return tuple(prompt[at : at + SIZE] for at in range(0, len(prompt) - SIZE + 1, SIZE))


def prefixes_of(prompt: str) -> list[tuple[str, ...]]:
    blocks = blocks_of(prompt)
    return [blocks[: length + 1] for length in range(len(blocks))]


def bounded(**bounds: int) -> PrefixTree:
    """A tree that prunes itself, since its bounds are its own."""
    tree = PrefixTree(block_chars=SIZE, bucket_s=10.0)
    for name, bound in bounds.items():
        setattr(tree.bounds, name, bound)
    return tree


def tree_of(log: list[str], **bounds: int) -> PrefixTree:
    tree = bounded(**bounds)
    for time_s, prompt in enumerate(log):
        tree.insert(prompt, float(time_s))
    return tree


def prefixes(tree: PrefixTree) -> list[str]:
    """The whole prefix of each node of the walk."""
    found: list[str] = []
    for node, parent in tree.walk():
        found.append((found[parent] if parent >= 0 else "") + node.text)
    return found


def by_prefix(tree: PrefixTree) -> dict[tuple[str, ...], tuple[TreeNode, Total]]:
    """Every prefix of whole blocks that the tree holds: the node that it lies in, and who passed it."""
    found = {}
    walked, whole = list(tree.walk()), prefixes(tree)
    for number, total in totals(walked):
        node = walked[number][0]
        total = Total(total.count, dict(total.uses), total.first_s, total.last_s)
        prefix = whole[number]
        for end in range(len(prefix) - len(node.text) + SIZE, len(prefix) + 1, SIZE):
            found[blocks_of(prefix[:end])] = node, total
    return found


@given(logs)
def test_insert_tells_what_was_there_before(log: list[str]) -> None:
    tree, seen = PrefixTree(block_chars=SIZE), set[tuple[str, ...]]()
    for prompt in log:
        known = sum(prefix in seen for prefix in prefixes_of(prompt))
        assert tree.insert(prompt, 0.0) == (len(blocks_of(prompt)), known)
        seen.update(prefixes_of(prompt))


@given(logs, st.randoms(use_true_random=False))
def test_counts_are_those_of_the_log_in_whatever_order(log: list[str], order: random.Random) -> None:
    truth = Counter(prefix for prompt in log for prefix in prefixes_of(prompt))
    ends = Counter(blocks_of(prompt) for prompt in log if blocks_of(prompt))
    order.shuffle(log)
    tree = tree_of(log)
    assert {prefix: total.count for prefix, (_, total) in by_prefix(tree).items()} == truth
    ended = {blocks_of(prefix): node.ends for prefix, (node, _) in zip(prefixes(tree), tree.walk(), strict=True)}
    assert {prefix: count for prefix, count in ended.items() if count} == ends
    assert tree.bounds.nodes == sum(1 for _ in tree.walk())
    assert tree.bounds.chars == len(truth) * SIZE == sum(len(node.text) for node, _ in tree.walk())


@given(logs)
def test_times_and_tenants_survive_every_split(log: list[str]) -> None:
    tree = PrefixTree(block_chars=SIZE, bucket_s=10.0)
    for number, prompt in enumerate(log):
        tree.insert(prompt, None if number % 5 == 4 else float(number), number % 3)
    for prefix, (_, total) in by_prefix(tree).items():
        those = [number for number, prompt in enumerate(log) if blocks_of(prompt)[: len(prefix)] == prefix]
        timed = [number for number in those if number % 5 != 4]
        buckets = {number: UNTIMED if number % 5 == 4 else number // 10 for number in those}
        assert total.uses == Counter(buckets[number] << TENANT_BITS | number % 3 for number in those)
        assert (total.first_s, total.last_s) == (min(timed, default=float("inf")), max(timed, default=float("-inf")))


@given(logs, prompts)
def test_match_finds_all_that_the_tree_holds(log: list[str], prompt: str) -> None:
    tree = tree_of(log)
    held = by_prefix(tree)
    known = sum(prefix in held for prefix in prefixes_of(prompt))
    path, chars = tree.match(prompt)
    assert chars == known * SIZE
    passed = "".join(node.text for node in path)
    assert prompt.startswith(passed)
    whole = prompt[: chars // SIZE * SIZE]
    below = (path[-1] if path else tree.root).children.values()
    assert not any(whole.startswith(passed + child.text) for child in below)


@given(logs)
def test_walk_numbers_parents_first(log: list[str]) -> None:
    tree = tree_of(log)
    walked = list(tree.walk())
    for number, (node, parent) in enumerate(walked):
        assert parent < number
        above = walked[parent][0] if parent >= 0 else tree.root
        assert node in above.children.values()


@given(logs, st.integers(1, 6))
@example(["aa", "bb", "aa", "cc", "dd", "aa", "bb"], 2)
def test_however_often_pruned_counts_are_short_by_no_more_than_the_stated_error(log: list[str], bound: int) -> None:
    truth = Counter(prefix for prompt in log for prefix in prefixes_of(prompt))
    tree = tree_of(log, max_nodes=bound)
    kept = by_prefix(tree)
    for prefix, (node, total) in kept.items():
        assert total.count <= truth[prefix] <= total.count + node.error
        assert node.error <= tree.bounds.error
    assert all(truth[prefix] <= tree.bounds.error for prefix in truth.keys() - kept.keys())
    assert tree.bounds.nodes == sum(1 for _ in tree.walk()) <= bound
    assert tree.bounds.chars == sum(len(node.text) for node, _ in tree.walk())


def test_pruning_takes_the_oldest_singles_and_those_without_a_time_first() -> None:
    tree = bounded(max_nodes=4)
    tree.insert("aaaa", 5.0)
    tree.insert("bbbb", None)
    tree.insert("cccc", 1.0)
    tree.insert("dddd", 2.0)
    tree.insert("eeee", 3.0)
    assert sorted(node.text for node, _ in tree.walk()) == ["aaaa", "dddd", "eeee"]
    assert (tree.bounds.pruned, tree.bounds.error) == (2, 1)


def test_what_is_often_asked_for_outlives_ten_thousand_that_are_not() -> None:
    tree = bounded(max_nodes=100)
    for number in range(10_000):
        tree.insert(f"{number:08}", float(number))
        if number % 50 == 0:
            tree.insert("popular!", float(number))
    node, total = by_prefix(tree)[blocks_of("popular!")]
    assert total.count <= 200 <= total.count + node.error
    assert tree.bounds.nodes <= 100


def test_characters_are_bounded_too() -> None:
    tree = bounded(max_chars=40)
    for number in range(50):
        tree.insert(f"{number:02}" * 5, float(number))
    assert tree.bounds.chars <= 40
    assert tree.bounds.pruned == 50 - tree.bounds.nodes


def test_trees_share_bounds_and_leave_pruning_to_their_owner() -> None:
    bounds = Bounds(max_nodes=3)
    one, other = PrefixTree(SIZE, bounds=bounds), PrefixTree(SIZE, bounds=bounds)
    for tree in (one, other):
        tree.insert("aa", 0.0)
        tree.insert("bb", 0.0)
    assert bounds.exceeded
    assert bounds.nodes == 4


@pytest.mark.parametrize(
    ("left", "right", "chars"),
    [
        ("", "", 0),
        ("aab", "aab", 2),
        ("aabb", "aabc", 2),
        ("aabb", "aabbcc", 4),
        ("ab", "ba", 0),
        ("a😀bb", "a😀bc", 2),
    ],
)
def test_common_blocks(left: str, right: str, chars: int) -> None:
    assert common_blocks_chars(left, right, SIZE) == common_blocks_chars(right, left, SIZE) == chars


@given(prompts, prompts, st.integers(1, 4))
def test_common_blocks_against_counting(left: str, right: str, size: int) -> None:
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    assert common_blocks_chars(left, right, size) == same // size * size


def test_a_long_prompt_costs_a_node_per_branching_point_not_per_block() -> None:
    tree = PrefixTree()
    text = "".join(chr(0x4E00 + number % 20_000) for number in range(640_000))
    for cut in (640_000, 320_000, 480_000, 640_000):
        tree.insert(text[:cut], 0.0)
    assert tree.bounds.nodes == 3
    assert sorted(total.count for _, total in totals(list(tree.walk()))) == [2, 3, 4]
    assert all(len(left[0].text) % 64 == 0 for left, _ in pairwise(tree.walk()))
