"""The prefix tree against the plainest model there is: a count per tuple of blocks."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from preheat.blocks.tree import PrefixTree, TreeNode, common_blocks_chars

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


def tree_of(log: list[str], **bounds: int) -> PrefixTree:
    tree = PrefixTree(block_chars=SIZE, bucket_s=10.0, **bounds)
    for time_s, prompt in enumerate(log):
        tree.insert(prompt, float(time_s))
    return tree


def by_prefix(tree: PrefixTree) -> dict[tuple[str, ...], TreeNode]:
    """Every prefix of whole blocks that the tree holds, and the node that it lies in."""
    found = {}
    for node, _, _ in tree.walk():
        whole = node.prefix()
        for end in range(len(whole) - len(node.text) + SIZE, len(whole) + 1, SIZE):
            found[blocks_of(whole[:end])] = node
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
    assert {prefix: node.count for prefix, node in by_prefix(tree).items()} == truth
    assert {blocks_of(node.prefix()): node.ends for node, _, _ in tree.walk() if node.ends} == ends
    assert tree.nodes == sum(1 for _ in tree.walk())
    assert tree.chars == len(truth) * SIZE == sum(len(node.text) for node, _, _ in tree.walk())


@given(logs)
def test_times_and_tenants_survive_every_split(log: list[str]) -> None:
    tree = PrefixTree(block_chars=SIZE, bucket_s=10.0)
    for number, prompt in enumerate(log):
        tree.insert(prompt, None if number % 5 == 4 else float(number), f"t{number % 3}" if number % 4 else None)
    for prefix, node in by_prefix(tree).items():
        those = [number for number, prompt in enumerate(log) if blocks_of(prompt)[: len(prefix)] == prefix]
        timed = [number for number in those if number % 5 != 4]
        assert node.untimed == len(those) - len(timed)
        assert node.arrivals == Counter(number // 10 for number in timed)
        assert (node.first_s, node.last_s) == (min(timed, default=float("inf")), max(timed, default=float("-inf")))
        assert node.tenants == Counter(f"t{number % 3}" for number in those if number % 4)


@given(logs, prompts)
def test_match_finds_all_that_the_tree_holds(log: list[str], prompt: str) -> None:
    tree = tree_of(log)
    held = by_prefix(tree)
    known = sum(prefix in held for prefix in prefixes_of(prompt))
    node, chars = tree.match(prompt)
    assert chars == known * SIZE
    assert prompt.startswith(node.prefix())
    deeper = [child for child in node.children.values() if prompt[: chars // SIZE * SIZE].startswith(child.prefix())]
    assert not deeper


@given(logs, logs)
@example(["aabb"], ["aa"])
def test_hashes_do_not_depend_on_where_edges_are_split(log: list[str], more: list[str]) -> None:
    def hashes(tree: PrefixTree) -> dict[str, str]:
        return {node.prefix(): digest for node, _, digest in tree.walk()}

    few, many = hashes(tree_of(log)), hashes(tree_of(log + more))
    assert few.items() <= many.items()
    assert all(
        digest == xxhash.xxh3_128_hexdigest(prefix.encode("utf-8", "surrogatepass")) for prefix, digest in many.items()
    )


@given(logs)
def test_walk_numbers_parents_first(log: list[str]) -> None:
    walked = list(tree_of(log).walk())
    for number, (node, parent, _) in enumerate(walked):
        assert parent < number
        assert node.parent is not None
        assert (node.parent.parent is None) if parent < 0 else (walked[parent][0] is node.parent)


@given(logs, st.integers(1, 6))
def test_bounds_hold_and_one_pruning_leaves_exact_counts(log: list[str], bound: int) -> None:
    tree = PrefixTree(block_chars=SIZE, max_nodes=bound)
    for number, prompt in enumerate(log):
        before = tree.pruned
        tree.insert(prompt, float(number))
        assert tree.nodes <= tree.max_nodes
        if tree.pruned > before:
            truth = Counter(prefix for each in log[: number + 1] for prefix in prefixes_of(each))
            kept = {prefix: node.count for prefix, node in by_prefix(tree).items()}
            assert kept.items() <= truth.items()
            assert all(truth[prefix] == 1 for prefix in truth.keys() - kept.keys())
            assert tree.chars == len(kept) * SIZE
            return


@given(logs, st.integers(1, 6))
def test_counts_never_exceed_the_truth_however_often_pruned(log: list[str], bound: int) -> None:
    truth = Counter(prefix for prompt in log for prefix in prefixes_of(prompt))
    tree = tree_of(log, max_nodes=bound)
    kept = by_prefix(tree)
    assert all(node.count <= truth[prefix] for prefix, node in kept.items())
    assert all(node.count >= sum(child.count for child in node.children.values()) for node in kept.values())
    assert sum(node.ends for node in {id(node): node for node in kept.values()}.values()) + tree.root.ends == len(log)


def test_pruning_takes_the_oldest_singles_and_those_without_a_time_first() -> None:
    tree = PrefixTree(block_chars=SIZE, max_nodes=4)
    tree.insert("aaaa", 5.0)
    tree.insert("bbbb", None)
    tree.insert("cccc", 1.0)
    tree.insert("dddd", 2.0)
    tree.insert("eeee", 3.0)
    assert sorted(node.text for node, _, _ in tree.walk()) == ["aaaa", "dddd", "eeee"]
    assert tree.pruned == 2


def test_characters_are_bounded_too() -> None:
    tree = PrefixTree(block_chars=SIZE, max_chars=40)
    for number in range(50):
        tree.insert(f"{number:02}" * 5, float(number))
    assert tree.chars <= 40
    assert tree.pruned == 50 - tree.nodes


def test_where_nothing_can_be_dropped_the_bound_gives_way() -> None:
    tree = PrefixTree(block_chars=SIZE, max_nodes=2)
    for prompt in ["aa", "bb", "cc"] * 2:
        tree.insert(prompt, 0.0)
    for prompt in ["dd", "dd", "ee", "ee", "ff", "ff"]:
        tree.insert(prompt, 1.0)
    assert tree.nodes <= tree.max_nodes
    assert all(node.count >= 1 for node, _, _ in tree.walk())


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
    assert tree.nodes == 3
    assert [node.count for node, _, _ in tree.walk()] == [4, 3, 2]
    assert all(len(left[0].text) % 64 == 0 for left, _ in pairwise(tree.walk()))
