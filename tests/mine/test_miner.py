"""Requests in, one profile out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from preheat.blocks.digests import text_digests
from preheat.errors import BadInput
from preheat.files.versioned import digest
from preheat.mine.miner import OTHERS, Miner, mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.profile import Node, Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Message, ReadReport, Request

DEMO = Path(__file__).parents[2] / "examples/data/demo_log.jsonl.xz"
RENDERER = renderer_for(Rendering())
SHARED = "The handbook says: " + "".join(f"rule {number}; " for number in range(40))
SMALL = MineSettings(block_chars=4, bucket_s=10.0)


def completion(prompt: str, time_s: float | None = 0.0, **more: Any) -> Request:
    return Request(id="r", prompt=prompt, time_s=time_s, **more)


def chat(*contents: str, **more: Any) -> Request:
    messages = tuple(Message(role, text) for role, text in zip(("system", "user"), contents, strict=False))
    return Request(id="r", messages=messages, **more)


def prefix_of(profile: Profile, number: int) -> str:
    text = ""
    while number >= 0:
        text = (profile.nodes[number].text or "") + text
        number = profile.nodes[number].parent
    return text


def node_at(profile: Profile, prefix: str) -> Node:
    return next(node for number, node in enumerate(profile.nodes) if prefix_of(profile, number) == prefix)


def test_a_prefix_that_ends_inside_a_message_is_found() -> None:
    profile = mine([chat("Be brief.", SHARED + question) for question in ("Why?", "How much does it cost?")], RENDERER)
    shared = max((number for number, node in enumerate(profile.nodes) if node.count == 2), default=-1)
    whole = RENDERER.render(chat("Be brief.", SHARED))
    text = prefix_of(profile, shared)
    assert len(text) % profile.block_chars == 0
    assert 0 <= whole.index(SHARED) + len(SHARED) - len(text) < profile.block_chars
    assert whole.startswith(text)


def test_models_and_adapters_are_kept_apart() -> None:
    mixes: list[dict[str, Any]] = [{}, {"model": "a"}, {"model": "a", "adapter": "x"}, {"model": "b", "adapter": "x"}]
    profile = mine([completion("same prompt!", **mix) for mix in mixes * 2], RENDERER, SMALL)
    assert [(each.model, each.adapter, each.requests) for each in profile.partitions] == [
        (None, None, 2),
        ("a", None, 2),
        ("a", "x", 2),
        ("b", "x", 2),
    ]
    assert [(node.partition, node.parent, node.count) for node in profile.nodes] == [(n, -1, 2) for n in range(4)]
    assert profile.distinct_blocks == 4 * 3
    assert sorted(each.partition for each in profile.clusters) == [0, 1, 2, 3]


def test_parents_point_into_their_own_partition() -> None:
    log = [completion("aaaa" + tail, model=model) for model in ("m", "n") for tail in ("bbbb", "cccc", "ccccdddd")]
    profile = mine(log, RENDERER, SMALL)
    for number, node in enumerate(profile.nodes):
        assert node.parent < number
        assert node.parent < 0 or profile.nodes[node.parent].partition == node.partition


def test_tenants_are_counted_at_every_prefix() -> None:
    log = [completion("aaaabbbb", tenant="t"), completion("aaaacccc", tenant="u"), completion("aaaa")]
    profile = mine(log, RENDERER, SMALL)
    assert profile.tenants == {"t": 1, "u": 1}
    assert node_at(profile, "aaaa").tenants == {"t": 1, "u": 1}
    assert node_at(profile, "aaaabbbb").tenants == {"t": 1}


def test_arrivals_are_bucketed() -> None:
    profile = mine([completion("aaaa", time_s) for time_s in (3.0, 9.9, 10.0, 35.0, -0.5)], RENDERER, SMALL)
    node = node_at(profile, "aaaa")
    assert node.arrivals == {-1: 1, 0: 2, 1: 1, 3: 1}
    assert (node.first_s, node.last_s, profile.start_s, profile.end_s) == (-0.5, 35.0, -0.5, 35.0)


@pytest.mark.parametrize("first", [True, False])
def test_requests_without_a_time_count_as_the_logs_end_wherever_they_stand(first: bool) -> None:
    epoch_s = 1_700_000_000.0
    timed = [completion("aaaabbbb", epoch_s), completion("aaaacccc", epoch_s + 100)]
    untimed = [completion("aaaadddd", None), completion("aaaabbbb", None)]
    profile = mine(untimed + timed if first else timed + untimed, RENDERER, SMALL)
    assert (profile.start_s, profile.end_s) == (epoch_s, epoch_s + 100)
    last = int((epoch_s + 100) // 10)
    shared = node_at(profile, "aaaa")
    assert (shared.count, shared.untimed, shared.arrivals) == (4, 2, {last - 10: 1, last: 1})
    only = node_at(profile, "aaaadddd")
    assert (only.untimed, only.arrivals, only.first_s, only.last_s) == (1, {}, epoch_s + 100, epoch_s + 100)
    both = node_at(profile, "aaaabbbb")
    assert (both.count, both.first_s, both.last_s) == (2, epoch_s, epoch_s)


def test_a_log_without_any_time() -> None:
    profile = mine([completion("aaaa", None)] * 2, RENDERER, SMALL)
    assert (profile.start_s, profile.end_s, profile.nodes[0].untimed, profile.nodes[0].arrivals) == (0.0, 0.0, 2, {})


def test_what_a_template_refuses_is_counted_not_mined() -> None:
    strict = (
        "{% if messages[0].role != 'user' %}{{ raise_exception('no system role') }}{% endif %}{{ messages[0].content }}"
    )
    renderer = renderer_for(Rendering(name="strict", source="FILE", template=strict))
    report = ReadReport()
    report.skip("log:1", "not JSON")
    user = Request(id="u", messages=(Message("user", "hello"),), time_s=1.0)
    profile = mine([chat("system", "user", source="log:2", time_s=0.0), user], renderer, SMALL, report)
    assert profile.requests == 1
    assert sum(profile.skipped.values()) == 2
    assert any("no system role" in reason for reason in profile.skipped)
    assert profile.start_s == 1.0
    with pytest.raises(BadInput, match="nothing to learn from") as refusal:
        mine([chat("system", "user")] * 2, renderer)
    assert "no system role" in str(refusal.value)


def test_what_templates_refuse_for_one_reason_is_counted_under_it() -> None:
    template = "{{ raise_exception('no system role') }}"
    miner = Miner(renderer_for(Rendering(name="strict", source="FILE", template=template)))
    for number in range(3):
        miner.add(chat("system", "user", source=f"log:{number}"))
    with pytest.raises(BadInput, match="3 x not renderable"):
        miner.profile()


def test_without_text_only_hashes_are_kept() -> None:
    log = [completion("aaaabbbb"), completion("aaaacccc")]
    bare = mine(log, RENDERER, MineSettings(block_chars=4, keep_text=False))
    full = mine(log, RENDERER, MineSettings(block_chars=4))
    assert not bare.has_text
    assert all(node.text is None for node in bare.nodes)
    assert all(each.representative is None for each in bare.clusters)
    digests = [text_digests(node.text or "", 4).hex() for node in full.nodes]
    assert [node.block_hashes for node in bare.nodes] == digests
    assert [each.hash for each in bare.clusters] == [each.hash for each in full.clusters]


def test_an_empty_log_is_bad_input() -> None:
    with pytest.raises(BadInput, match="nothing to learn from"):
        mine([], RENDERER)


def test_prompts_shorter_than_a_block_count_as_requests() -> None:
    profile = mine([completion("abc"), completion("")], RENDERER, SMALL)
    assert (profile.requests, profile.blocks, profile.nodes, profile.chars) == (2, 0, [], 3)


def test_what_was_pruned_is_told() -> None:
    settings = MineSettings(block_chars=4, max_nodes=10)
    profile = mine([completion(f"{number:04}", float(number)) for number in range(40)], RENDERER, settings)
    assert len(profile.nodes) <= 10
    assert profile.pruned_nodes == 40 - len(profile.nodes)
    assert profile.blocks == 40


@pytest.fixture(scope="module")
def demo() -> Profile:
    return mine(read_requests([str(DEMO)], report=ReadReport()), RENDERER)


def test_the_demo_log_adds_up(demo: Profile) -> None:
    assert demo.requests == demo.partitions[0].requests == 2_532
    assert sum(demo.tenants.values()) == demo.requests
    assert sum(node.blocks * node.count for node in demo.nodes) == demo.blocks
    assert sum(node.blocks for node in demo.nodes) == demo.distinct_blocks
    below = [0] * len(demo.nodes)
    for node in demo.nodes:
        assert sum(node.arrivals.values()) == node.count
        assert demo.start_s <= node.first_s <= node.last_s <= demo.end_s
        if node.parent >= 0:
            below[node.parent] += node.count
    assert all(node.count == node.ends + passing for node, passing in zip(demo.nodes, below, strict=True))
    assert sum(each.size for each in demo.clusters) >= demo.cluster_sample
    assert sum(each.share for each in demo.clusters) == pytest.approx(1)


def test_the_same_log_gives_the_same_profile(demo: Profile) -> None:
    assert digest(mine(read_requests([str(DEMO)], report=ReadReport()), RENDERER)) == digest(demo)


@pytest.mark.parametrize("bound", [20, 100, 100_000])
def test_too_many_arrivals_are_told_by_longer_buckets(bound: int) -> None:
    log = [completion(f"prompt {number % 7}.", 1000.0 + number, tenant=f"t{number % 3}") for number in range(2_000)]
    profile = mine(log, RENDERER, MineSettings(block_chars=4, bucket_s=10.0, max_arrivals=bound))
    longer = profile.bucket_s / 10.0
    assert (longer == 1.0) == (bound == 100_000)
    assert longer == 2 ** round(math.log2(longer))
    assert sum(profile.arrivals.values()) == 2_000
    for node in profile.nodes:
        assert sum(node.arrivals.values()) == node.count
    last = max(profile.arrivals)
    assert last == int(2999 // profile.bucket_s)


def test_many_tenants_are_counted_together() -> None:
    log = [completion("aaaa", 0.0, tenant=f"t{number}") for number in range(30)]
    profile = mine(log, RENDERER, MineSettings(block_chars=4, max_tenants=10))
    assert profile.tenants[OTHERS] == 20
    assert sum(profile.tenants.values()) == 30


def test_models_past_the_bound_are_left_out_and_counted() -> None:
    settings = MineSettings(block_chars=4, max_partitions=3)
    profile = mine([completion("same", model=f"m{number % 5}") for number in range(10)], RENDERER, settings)
    assert [each.model for each in profile.partitions] == ["m0", "m1", "m2"]
    assert profile.requests == 6
    assert profile.skipped == {"of a model or adapter beyond the first 3": 4}


def test_tenants_of_many_models_are_bounded_together() -> None:
    log = [completion("same", model=f"m{n % 4}", tenant=f"t{n % 7}" if n % 3 else None) for n in range(200)]
    profile = mine(log, RENDERER, MineSettings(block_chars=4, max_shares=5))
    assert profile.requests == 200
    assert sum(len(each.shares) for each in profile.partitions) <= 5 + 2 * 4  # no tenant, and the others
    assert OTHERS in profile.tenants
    assert sum(profile.tenants.values()) == sum(request.tenant is not None for request in log)
    assert all(sum(node.tenants.values()) <= node.count for node in profile.nodes)
