"""Merged profiles against one profile of all logs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from preheat.blocks.digests import text_digests
from preheat.errors import BadInput
from preheat.mine.merge import merge, without_tenants
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.profile import Node, Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

RENDERER = renderer_for(Rendering())
SIZE = 2
SMALL = MineSettings(block_chars=SIZE, bucket_s=10.0)

requests = st.builds(
    Request,
    id=st.just("r"),
    prompt=st.text("ab😀", max_size=9),
    time_s=st.none() | st.integers(-30, 200).map(float),
    tenant=st.sampled_from([None, "t", "u", "v"]),
    model=st.sampled_from([None, "m"]),
    truncated=st.booleans(),
)
traces = st.builds(
    Request,
    id=st.just("r"),
    blocks=st.lists(st.integers(0, 3), max_size=4).map(tuple),
    block_tokens=st.just(512),
    time_s=st.integers(0, 200).map(float),
    tenant=st.sampled_from([None, "t"]),
)
arrivals = st.builds(Request, id=st.just("r"), time_s=st.integers(0, 200).map(float), tenant=st.just("t"))
few = settings(max_examples=25)
logs = st.lists(requests | traces | arrivals, min_size=1, max_size=20)


def mined(log: list[Request], **more: Any) -> Profile:
    return mine(log, RENDERER, structs_of(**more))


def structs_of(**more: Any) -> MineSettings:
    return MineSettings(**{"block_chars": SIZE, "bucket_s": 10.0} | more)


@few
@given(logs, logs, logs)
def test_a_merge_equals_mining_all_at_once(one: list[Request], two: list[Request], three: list[Request]) -> None:
    whole = mined(one + two + three)
    assert merge([mined(one), mined(two), mined(three)], SMALL) == whole
    assert merge([mined(three), merge([mined(two), mined(one)], SMALL)], SMALL) == whole
    assert merge([whole], SMALL) == whole


@few
@given(logs, logs)
def test_without_text_too(one: list[Request], two: list[Request]) -> None:
    bare = structs_of(keep_text=False)
    merged = merge([mined(one, keep_text=False), mined(two, keep_text=False)], bare)
    whole = mined(one + two, keep_text=False)
    underived: dict[str, Any] = {"clusters": [], "cluster_sample": 0, "library": [], "derived_blocks": 0}
    assert structs.replace(merged, **underived) == structs.replace(whole, **underived)


prompts = st.text("ab", min_size=2, max_size=8).map(lambda text: Request(id="r", prompt=text))
prompts_only = st.lists(prompts, min_size=1)


@few
@given(prompts_only, prompts_only)
def test_text_that_either_kept_is_kept(one: list[Request], two: list[Request]) -> None:
    merged = merge([mined(one), mined(two, keep_text=False)], SMALL)
    assert _shape(merged) == _shape(mined(one + two))
    kept = {path[:end] for path in _paths(mined(one)) for end in range(7, len(path) + 1, 6)}
    assert {path for path, node in _paths(merged).items() if node.text is not None} == kept & _paths(merged).keys()


def _shape(profile: Profile) -> list[tuple[Any, ...]]:
    return [
        (node.parent, node.partition, node.blocks, node.count, node.ends, node.arrivals, node.tenants)
        for node in profile.nodes
    ]


def _paths(profile: Profile) -> dict[bytes, Node]:
    """Nodes by the digests of their whole prefix, the partition in front."""
    paths: list[bytes] = []
    for node in profile.nodes:
        above = paths[node.parent] if node.parent >= 0 else bytes([node.partition])
        own = bytes.fromhex(node.block_hashes or "")
        paths.append(above + (own if node.text is None else text_digests(node.text, profile.block_chars)))
    return dict(zip(paths, profile.nodes, strict=True))


@few
@given(st.lists(prompts_only, min_size=1, max_size=4), st.integers(2, 6))
@example([[Request(id="r", prompt=text) for text in ("aa", "ab", "ba", "bb")]] * 3, 2)
def test_past_a_bound_counts_stay_within_the_stated_error(parts: list[list[Request]], bound: int) -> None:
    truth: Counter[bytes] = Counter()
    for request in (request for part in parts for request in part):
        text = request.prompt or ""
        digests = bytes(1) + text_digests(text[: len(text) // SIZE * SIZE], SIZE)
        truth.update(digests[:end] for end in range(7, len(digests) + 1, 6))
    merged = merge([mined(part, max_nodes=bound) for part in parts], structs_of(max_nodes=bound))
    assert len(merged.nodes) <= bound
    held: dict[bytes, Node] = {}
    for path, node in _paths(merged).items():
        for blocks in range(node.blocks):
            held[path[: len(path) - 6 * blocks]] = node
    for path, node in held.items():
        assert node.count <= truth[path] <= node.count + node.count_error
        assert node.count_error <= merged.count_error
    assert all(truth[path] <= merged.count_error for path in truth.keys() - held.keys())


@few
@given(logs, st.sampled_from(["t", "u", "v"]))
def test_a_tenant_that_was_dropped_might_never_have_been(log: list[Request], tenant: str) -> None:
    others = [request for request in log if request.tenant != tenant]
    if not others or len(others) == len(log):
        return
    left, expected = without_tenants(mined(log), [tenant], SMALL), mined(others)
    assert _counts(left) == _counts(expected)
    assert [node.text for node in _in_order(left)] == [node.text for node in _in_order(expected)]
    assert left.partitions == expected.partitions
    for node in left.nodes:
        assert tenant not in node.tenants


def _counts(profile: Profile) -> list[Any]:
    nodes = [
        (path, node.blocks, node.count, node.ends, node.untimed, node.arrivals, node.tenants, node.tenant_arrivals)
        for path, node in sorted(_paths(profile).items())
    ]
    totals = (profile.requests, profile.blocks, profile.chars, profile.tenants, profile.truncated, profile.arrivals)
    return [*nodes, totals, profile.start_s, profile.end_s]


def _in_order(profile: Profile) -> list[Node]:
    return [node for _, node in sorted(_paths(profile).items())]


def test_buckets_of_twice_the_length_are_met_halfway() -> None:
    log = [Request(id="r", prompt="aabb", time_s=float(time_s)) for time_s in (3, 12, 25, 31)]
    merged = merge([mined(log[:2]), mined(log[2:], bucket_s=20.0)], structs_of(bucket_s=20.0))
    assert merged == mined(log, bucket_s=20.0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rendering": Rendering(name="x", template="{{ messages }}")}, "rendered by"),
        ({"block_chars": 4}, "blocks of"),
        ({"bucket_s": 7.0}, "arrivals by"),
    ],
)
def test_profiles_that_do_not_fit_together(change: dict[str, Any], reason: str) -> None:
    profile = mined([Request(id="r", prompt="aabb")])
    with pytest.raises(BadInput, match=reason):
        merge([profile, structs.replace(profile, **change)], SMALL)


def test_profiles_from_before_there_were_shares() -> None:
    profile = mined([Request(id="r", prompt="aabb")])
    older = structs.replace(profile, partitions=[structs.replace(each, shares={}) for each in profile.partitions])
    with pytest.raises(BadInput, match="does not say enough"):
        merge([older, older], SMALL)


def test_nothing_to_merge_and_tenants_that_are_not_there() -> None:
    with pytest.raises(BadInput, match="no profile"):
        merge([])
    profile = mined([Request(id="r", prompt="aabb", tenant="t")])
    with pytest.raises(BadInput, match="knows no tenant 'x'"):
        without_tenants(profile, ["t", "x"])
    with pytest.raises(BadInput, match="nobody else"):
        without_tenants(profile, ["t"])
