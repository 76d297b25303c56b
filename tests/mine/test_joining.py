"""Prompts beyond those that were compared."""

from __future__ import annotations

import random

import pytest
from template_logs import completion, profile_of, talk

from preheat.mine.clusters import clustering
from preheat.mine.joining import joined
from preheat.mine.settings import MineSettings


def test_prompts_beyond_the_sample_join_the_cluster_that_recognises_them() -> None:
    rng = random.Random(1)
    end = "\n\nUse only the passage above and say so if it is not in there.\nAnswer in one short sentence.\nQuestion: "
    prompts = [talk(rng, "en", 60) + end + talk(rng, "en", 14) for _ in range(60)]
    profile = profile_of([completion(text) for text in [*prompts, *(talk(rng, "en", 50) for _ in range(10))]])
    few = MineSettings(cluster_sample=30)
    before = clustering(profile, few)
    after = joined(profile, before)
    assert before.clusters[0].size < 30
    assert after.clusters[0].size == 60
    assert after.clusters[0].share == pytest.approx(60 / 70)
    assert sum(of == 0 for of in after.of) == 60
    assert sum(of < 0 and node.ends > 0 for of, node in zip(after.of, profile.nodes, strict=True)) == 10
    blocks = sum(len(text) // 64 for text in prompts)
    assert after.clusters[0].share_blocks == pytest.approx(blocks / profile.blocks)
    assert profile_of([completion(text) for text in prompts], few).clusters[0].size == 60


def test_the_largest_cluster_stands_first_again() -> None:
    rng = random.Random(2)
    ends = ["\n\nUse only the passage above and nothing else at all.\nAnswer in one short sentence please.\nQuestion: "]
    ends.append("\n\nNenne nur die Orte aus dem obigen Abschnitt.\nSchreibe sie nach dem Alphabet auf.\nFrage: ")
    prompts = [(kind, talk(rng, "en", 60) + ends[kind] + talk(rng, "en", 14)) for kind in [0, 1, 1] for _ in range(40)]
    profile = profile_of([completion(text) for _, text in prompts])
    for size in (12, 25, 60):
        found = joined(profile, clustering(profile, MineSettings(cluster_sample=size)))
        assert [each.size for each in found.clusters[:2]] == [80, 40]
        for number, cluster in enumerate(found.clusters):
            assert found.of[found.representatives[number]] == number
            ends_there = sum(profile.nodes[n].ends for n, of in enumerate(found.of) if of == number)
            assert cluster.size == ends_there
