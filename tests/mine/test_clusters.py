"""Clusters and the sample that they are made of."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from preheat.mine.clusters import Reservoir, _groups, cluster
from preheat.mine.vectors import tfidf

TOPICS = ["billing", "weather", "contract law", "protein folding", "chess openings", "gardening"]
PROMPTS = [
    f"You are an assistant for {topic}. Answer about {topic} in {words} words, part {part}."
    for part in range(10)
    for topic in TOPICS
    for words in (10, 20, 50, 100, 200)
]
"""300 prompts, more than one block of the comparison, of six topics."""


def sample_of(prompts: list[str], partition: int = 0, size: int = 1_000) -> Reservoir:
    sample = Reservoir(size)
    for prompt in prompts:
        sample.add(prompt, partition)
    return sample


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
    found = cluster(sample_of(PROMPTS), 0.5, keep_text=True)
    assert len(found) == len(TOPICS)
    assert {each.size for each in found} == {50}
    named = [topic for each in found for topic in TOPICS if f"for {topic}." in (each.representative or "")]
    assert sorted(named) == sorted(TOPICS)


def test_chinese_clusters_without_a_segmenter() -> None:
    contracts = [f"请总结这份合同的主要条款,并列出第{number}条的风险。" for number in range(6)]
    recipes = [f"我想学做红烧肉,需要{number}斤五花肉和哪些调料?" for number in range(6)]
    found = cluster(sample_of(contracts + recipes), 0.72, keep_text=True)
    assert [each.size for each in found] == [6, 6]
    assert {(each.representative or "")[:2] for each in found} == {"请总", "我想"}


def test_the_representative_is_the_member_nearest_the_centroid() -> None:
    group = ["a b c d", "a b c e", "a b c d e", "a b c d e f g h"]
    rows = tfidf(sorted(group)).toarray()
    nearest = sorted(group)[int((rows @ rows.mean(axis=0)).argmax())]
    assert nearest != sorted(group)[0]
    assert [each.representative for each in cluster(sample_of(group), 0.0, keep_text=True)] == [nearest]


def test_sizes_count_repeats_and_shares_are_of_the_sample() -> None:
    found = cluster(sample_of(["one two three"] * 3 + ["quite another matter"]), 0.72, keep_text=True)
    assert [(each.representative, each.size, each.share) for each in found] == [
        ("one two three", 3, 0.75),
        ("quite another matter", 1, 0.25),
    ]


def test_partitions_are_never_mixed_and_text_can_be_left_out() -> None:
    sample = Reservoir(10)
    for partition in (0, 1):
        sample.add("the very same prompt", partition)
    found = cluster(sample, 0.72, keep_text=False)
    assert sorted(each.partition for each in found) == [0, 1]
    assert {each.representative for each in found} == {None}
    assert len({each.hash for each in found}) == 1


def test_nothing_sampled_nothing_found() -> None:
    assert cluster(Reservoir(10), 0.72, keep_text=True) == []


def test_every_distinct_prompt_is_as_likely_to_be_sampled() -> None:
    drawn: Counter[str] = Counter()
    runs, stream, size = 400, 60, 15
    for seed in range(runs):
        sample = Reservoir(size, seed)
        for number in range(stream):
            for _ in range(1 + number % 3):
                sample.add(str(number), 0)
        assert len(sample.slots) == len(sample.weights) == size
        assert {key for key, _, _ in sample.slots} == sample.weights.keys()
        drawn.update(prompt for _, _, prompt in sample.slots)
    expected = runs * size / stream
    chi_square = sum((drawn[str(number)] - expected) ** 2 / expected for number in range(stream))
    assert chi_square / (1 - size / stream) < 98.3  # 59 degrees of freedom, p = 0.001; the draws are without return
    thirds = [sum(drawn[str(number)] for number in range(start, start + 20)) for start in (0, 20, 40)]
    assert max(thirds) / min(thirds) < 1.15


def test_the_same_stream_gives_the_same_sample() -> None:
    prompts = [str(number % 500) for number in range(2_000)]
    assert sample_of(prompts, size=40).slots == sample_of(prompts, size=40).slots
