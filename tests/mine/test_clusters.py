"""Clusters and the sample that they are made of."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from preheat.mine.clusters import _groups, cluster
from preheat.mine.prompts import SampledPrompt
from preheat.mine.vectors import tfidf

TOPICS = ["billing", "weather", "contract law", "protein folding", "chess openings", "gardening"]
PROMPTS = [
    f"You are an assistant for {topic}. Answer about {topic} in {words} words, part {part}."
    for part in range(10)
    for topic in TOPICS
    for words in (10, 20, 50, 100, 200)
]
"""300 prompts, more than one block of the comparison, of six topics."""


def sample_of(prompts: list[str], partition: int = 0) -> list[SampledPrompt]:
    return [
        SampledPrompt(number, partition, text, weight) for number, (text, weight) in enumerate(Counter(prompts).items())
    ]


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.72, 1.01])
def test_members_lie_within_the_threshold_of_their_leader_and_leaders_apart(threshold: float) -> None:
    rows = tfidf(PROMPTS)
    cosines = (rows @ rows.T).toarray()
    groups = _groups(rows, threshold)
    assert sorted(index for group in groups for index in group) == list(range(len(PROMPTS)))
    leaders = [group[0] for group in groups]
    for group in groups:
        for member in group[1:]:
            assert cosines[member, group[0]] >= threshold - 1e-6
            earlier = [leader for leader in leaders if leader < member]
            assert cosines[member, group[0]] == pytest.approx(cosines[member, earlier].max(), abs=1e-6)
    apart = cosines[np.ix_(leaders, leaders)] - 2 * np.eye(len(leaders))
    assert apart.max(initial=-1) < threshold + 1e-6
    assert len(groups) == len(PROMPTS) if threshold > 1 else 1 < len(groups) < len(PROMPTS)


def test_topics_are_told_apart() -> None:
    found = cluster(sample_of(PROMPTS), 0.5)
    assert len(found) == len(TOPICS)
    assert all(45 <= each.size <= 55 for each in found)
    named = [topic for each in found for topic in TOPICS if f"for {topic}." in (each.representative or "")]
    assert sorted(named) == sorted(TOPICS)


def test_chinese_clusters_without_a_segmenter() -> None:
    contracts = [f"请总结这份合同的主要条款,并列出第{number}条的风险。" for number in range(6)]
    recipes = [f"我想学做红烧肉,需要{number}斤五花肉和哪些调料?" for number in range(6)]
    found = cluster(sample_of(contracts + recipes), 0.72)
    assert [each.size for each in found] == [6, 6]
    assert {(each.representative or "")[:2] for each in found} == {"请总", "我想"}


def test_the_representative_is_the_member_nearest_the_centroid() -> None:
    group = ["a b c d", "a b c e", "a b c d e", "a b c d e f g h"]
    rows = tfidf(sorted(group)).toarray()
    nearest = sorted(group)[int((rows @ rows.mean(axis=0)).argmax())]
    assert nearest != sorted(group)[0]
    assert [each.representative for each in cluster(sample_of(group), 0.0)] == [nearest]


def test_sizes_count_repeats_and_shares_are_of_the_sample() -> None:
    found = cluster(sample_of(["one two three"] * 3 + ["quite another matter"]), 0.72)
    assert [(each.representative, each.size, each.share) for each in found] == [
        ("one two three", 3, 0.75),
        ("quite another matter", 1, 0.25),
    ]


def test_partitions_are_never_mixed() -> None:
    sample = [each for partition in (0, 1) for each in sample_of(["the very same prompt"], partition)]
    found = cluster(sample, 0.72)
    assert sorted(each.partition for each in found) == [0, 1]
    assert len({each.hash for each in found}) == 1


def test_nothing_sampled_nothing_found() -> None:
    assert cluster([], 0.72) == []
