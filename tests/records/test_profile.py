"""Profiles as they lie in files."""

from __future__ import annotations

import msgspec
import pytest

from preheat.records.profile import BLOCK_CHARS, Cluster, Node, Partition, Profile
from preheat.records.rendering import Rendering

FULL = Profile(
    rendering=Rendering(name="x", source="FILE", template="{{ messages }}"),
    start_s=1.5,
    end_s=9.0,
    requests=3,
    blocks=4,
    distinct_blocks=2,
    chars=300,
    tenants={"a": 2},
    partitions=[Partition("m", None, 2), Partition(None, "lora", 1)],
    nodes=[
        Node(parent=-1, hash="h0", blocks=1, text="é" * 64, count=3, first_s=1.5, last_s=9.0, arrivals={0: 2, -1: 1}),
        Node(parent=0, partition=1, hash="h1", blocks=1, count=1, ends=1, first_s=2.0, last_s=2.0, tenants={"a": 1}),
    ],
    clusters=[Cluster(representative=None, hash="c", size=2, share=0.5)],
    cluster_sample=3,
    pruned_nodes=1,
    skipped={"no messages": 7},
)


def test_a_profile_survives_its_file() -> None:
    assert msgspec.json.decode(msgspec.json.encode(FULL), type=Profile) == FULL


def test_a_later_version_may_add_fields_and_an_earlier_one_may_lack_them() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(FULL))
    raw["unheard_of"] = 1
    raw["nodes"][0]["unheard_of"] = 1
    assert msgspec.json.decode(msgspec.json.encode(raw), type=Profile) == FULL
    assert msgspec.json.decode(b"{}", type=Profile).block_chars == BLOCK_CHARS


def test_defaults_are_not_shared_between_profiles() -> None:
    Profile().tenants["x"] = 1
    assert Profile().tenants == {}


def test_records_are_frozen() -> None:
    with pytest.raises(AttributeError):
        FULL.requests = 4  # type: ignore[misc]
