"""Clusters of a whole profile, against logs whose templates are known."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from sklearn.metrics import adjusted_rand_score
from template_logs import RENDERER, chat, chats, completion, passages, profile_of, talk

from preheat.blocks.digests import prefix_name, text_digests
from preheat.mine.clusters import Clustering, clustering, clusters
from preheat.mine.merge import merge
from preheat.mine.prompts import prefix
from preheat.mine.settings import MineSettings
from preheat.records.profile import Profile
from preheat.records.request import Request

SETTINGS = MineSettings()


def clusters_by_prompt(profile: Profile, found: Clustering) -> dict[str, int]:
    return {prefix(profile, number): found.of[number] for number, node in enumerate(profile.nodes) if node.ends}


def agreement(labelled: list[tuple[str, Request]], settings: MineSettings = SETTINGS) -> float:
    """Adjusted Rand index over requests; a prompt without a cluster is alone."""
    profile = profile_of([request for _, request in labelled])
    by_prompt = clusters_by_prompt(profile, clustering(profile, settings))
    found: list[object] = []
    for _, request in labelled:
        text = RENDERER.render(request)
        whole = text[: len(text) // profile.block_chars * profile.block_chars]
        cluster = by_prompt[whole]
        found.append(cluster if cluster >= 0 else whole)
    names = {value: number for number, value in enumerate(dict.fromkeys(found))}
    return float(adjusted_rand_score([name for name, _ in labelled], [names[value] for value in found]))


@pytest.fixture(scope="module")
def mixed() -> Profile:
    rng = random.Random(1)
    return profile_of([request for _, request in chats(rng, 25) + passages(rng, 25)])


def test_system_prompts_and_retrieval_templates_of_four_languages_are_found() -> None:
    rng = random.Random(2)
    assert agreement(chats(rng, 30)) > 0.99
    assert agreement(passages(rng, 30)) > 0.99
    assert agreement(chats(rng, 12) + passages(rng, 40)) > 0.99


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<s>[INST] {}\n\n", " [/INST]"),
        ("<|start_header_id|>system<|end_header_id|>\n\n{}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n", ""),
        ("{}\n\n### Instruction:\n", "\n\n### Response:\n"),
        ("{}\nUser: ", "\nAssistant:"),
    ],
)
def test_other_chat_formats_and_none_at_all(before: str, after: str) -> None:
    rng = random.Random(3)
    systems = [talk(rng, language, 40).capitalize() + "." for language in ("en", "de", "es", "zh") for _ in range(3)]
    labelled = [
        (system, completion(before.format(system) + talk(rng, "en", 30) + after))
        for system in systems
        for _ in range(20)
    ]
    assert agreement(labelled) > 0.99


def test_a_template_that_comes_after_its_passage() -> None:
    rng = random.Random(4)
    ends = {
        "en": "\n\nWith the help of the passage above, answer in one sentence and say so if it is not in there: ",
        "de": "\n\nBeantworte mit Hilfe des obigen Abschnitts in einem Satz und sage, falls es dort nicht steht: ",
    }
    labelled = [
        (language, completion(talk(rng, language, 60) + end + talk(rng, language, 14)))
        for language, end in ends.items()
        for _ in range(40)
    ]
    assert agreement(labelled) > 0.9


def test_instructions_that_differ_in_a_word_are_templates_of_their_own_and_dates_are_not() -> None:
    rng = random.Random(5)
    rules = "请你一步一步思考，并将思考过程写在【解析】之间，选出正确的答案，写在【答案】之间，严格按照格式作答。"
    exams = [
        (subject, chat(None, f"请你做一道{subject}选择题\n{rules}\n题目如下：{talk(rng, 'zh', 60)}"))
        for subject in ("政治", "历史", "化学")
        for _ in range(20)
    ]
    assert agreement(exams) > 0.99
    dated = [
        (task, chat(f"Today is 2026-03-{day:02d}. {task}", talk(rng, "en", 30)))
        for task in ("You plan journeys by rail and tell the fares.", "You are a poet who answers in rhymes only.")
        for day in (1, 2, 3)
        for _ in range(12)
    ]
    assert agreement(dated) > 0.99


def test_tool_lists_are_told_apart() -> None:
    rng = random.Random(6)
    labelled = []
    for number in range(4):
        tools = [
            {"type": "function", "function": {"name": f"call_{number}_{each}", "description": talk(rng, "en", 12)}}
            for each in range(3)
        ]
        for _ in range(15):
            request = chat(None, talk(rng, "en", 25))
            labelled.append((str(number), Request(id="r", messages=request.messages, tools=tools, time_s=0.0)))
    assert agreement(labelled) > 0.99


def test_documents_asked_about_again_are_told_from_passages_that_come_once() -> None:
    rng = random.Random(7)
    head = "Answer from the text below in one sentence.\n\n"
    documents = [talk(rng, "en", 200) for _ in range(20)]
    labelled = [
        ("documents", chat(None, f"{head}{document}\n\nQuestion: {talk(rng, 'en', 20)}"))
        for document in documents
        for _ in range(20)
    ]
    labelled += [
        ("passages", chat(None, f"{head}{talk(rng, 'en', 80)}\n\nQuestion: {talk(rng, 'en', 20)}")) for _ in range(300)
    ]
    assert agreement(labelled) > 0.99


def test_every_prompt_has_one_cluster_at_most_and_sizes_add_up(mixed: Profile) -> None:
    found = clustering(mixed, SETTINGS)
    ends: Counter[int] = Counter()
    blocks: Counter[int] = Counter()
    for number, node in enumerate(mixed.nodes):
        if node.ends:
            ends[found.of[number]] += node.ends
            blocks[found.of[number]] += node.ends * (len(prefix(mixed, number)) // mixed.block_chars)
        else:
            assert found.of[number] == -1
    assert ends.total() == mixed.requests
    for number, cluster in enumerate(found.clusters):
        assert cluster.size == ends[number] >= 2
        assert cluster.share == pytest.approx(cluster.size / mixed.requests)
        assert cluster.share_blocks == pytest.approx(blocks[number] / mixed.blocks)
    assert [each.size for each in found.clusters] == sorted((each.size for each in found.clusters), reverse=True)


def test_a_representative_is_a_prompt_of_its_cluster_and_the_node_lies_above_nearly_all(mixed: Profile) -> None:
    found = clustering(mixed, SETTINGS)
    for number, cluster in enumerate(found.clusters):
        node = found.representatives[number]
        assert found.of[node] == number
        assert cluster.representative == prefix(mixed, node)
        name = prefix_name(text_digests(cluster.representative, mixed.block_chars)).hexdigest()
        assert cluster.hash == name == mixed.nodes[node].hash
        if cluster.node >= 0:
            shared = prefix(mixed, cluster.node)
            members = [each for each, of in enumerate(found.of) if of == number]
            below = sum(mixed.nodes[each].ends for each in members if prefix(mixed, each).startswith(shared))
            assert below >= 0.95 * cluster.size
            assert cluster.representative.startswith(shared)


def test_the_order_of_the_log_and_how_it_was_cut_do_not_matter() -> None:
    rng = random.Random(8)
    requests = [request for _, request in chats(rng, 12) + passages(rng, 12)]
    whole = profile_of(requests)
    rng.shuffle(requests)
    for other in (profile_of(requests), merge([profile_of(requests[:50]), profile_of(requests[50:])])):
        assert [(each.hash, each.size, each.template, each.slots) for each in other.clusters] == [
            (each.hash, each.size, each.template, each.slots) for each in whole.clusters
        ]


def test_templates_have_their_variable_places(mixed: Profile) -> None:
    by_begin = {(each.template or "")[:60]: each for each in mixed.clusters}
    for before, after in (
        ("Answer from the text below", "Now answer this question from the text above: {2}"),
        ("请根据下面的文章回答问题", "请只根据上面的文章回答下面这个问题，不要输出其他内容：{2}"),
    ):
        found = next(each for begin, each in by_begin.items() if before in begin)
        assert after in (found.template or "")
        assert found.slots[0].kind == "passage"
        assert found.slots[0].distinct > 2


def test_threshold_one_leaves_only_equal_prompts_together(mixed: Profile) -> None:
    found = clusters(mixed, MineSettings(cluster_threshold=1.0))
    assert len(found) == sum(node.ends >= 2 for node in mixed.nodes)
    twice = profile_of([chat("Be brief.", "Why is the sky blue? " * 5)] * 2 + [chat("Be brief.", "And the sea? " * 8)])
    assert [each.size for each in clusters(twice, MineSettings(cluster_threshold=1.0))] == [2]


def test_models_are_never_mixed_and_without_text_sizes_remain() -> None:
    rng = random.Random(9)
    requests = [
        Request(id="r", messages=request.messages, model=model, time_s=0.0)
        for model in ("a", "b")
        for _, request in chats(rng, 15)
    ]
    found = profile_of(requests)
    assert {(each.partition, each.size) for each in found.clusters} == {(0, 15), (1, 15)}
    bare = profile_of(requests, MineSettings(keep_text=False))
    assert [each.size for each in bare.clusters] == [each.size for each in found.clusters]
    assert {(each.representative, each.template) for each in bare.clusters} == {(None, None)}
    again = clusters(bare, SETTINGS)
    assert sum(each.size for each in again) >= 0.8 * bare.requests


def test_prompts_that_are_like_no_other_have_no_cluster() -> None:
    rng = random.Random(10)
    for make in (completion, lambda text: chat(None, text), lambda text: chat(talk(rng, "de", 20), text)):
        profile = profile_of([make(talk(rng, "en", 40)) for _ in range(20)])
        assert profile.clusters == []
        assert profile.cluster_sample == 20
    assert profile_of([completion("short")]).clusters == []


def test_no_more_clusters_than_set(mixed: Profile) -> None:
    found = clustering(mixed, MineSettings(max_clusters=3))
    assert len(found.clusters) == 3
    assert set(found.of) == {-1, 0, 1, 2}
