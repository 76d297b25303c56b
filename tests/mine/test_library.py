"""Recognising a new prompt's template."""

from __future__ import annotations

import random
from collections import Counter

import msgspec
import pytest
from template_logs import RENDERER, SYSTEMS, chat, chats, completion, passages, profile_of, talk

from preheat.mine.library import Library
from preheat.mine.settings import MineSettings
from preheat.records.profile import Profile


@pytest.fixture(scope="module")
def learned() -> Profile:
    rng = random.Random(1)
    return profile_of([request for _, request in chats(rng, 20) + passages(rng, 20)])


def test_new_prompts_of_known_templates_are_recognised_and_others_are_not(learned: Profile) -> None:
    library = Library(learned.library)
    rng = random.Random(2)
    by_name: dict[str, Counter[int]] = {}
    for name, request in chats(rng, 20) + passages(rng, 20):
        found = library.recognise(RENDERER.render(request))
        assert found is not None
        by_name.setdefault(name, Counter())[found.cluster] += 1
    assert all(len(clusters) == 1 for clusters in by_name.values())
    assert len({next(iter(clusters)) for clusters in by_name.values()}) == len(by_name)
    for language in ("en", "de", "es", "zh"):
        assert library.recognise(RENDERER.render(chat(None, talk(rng, language, 100)))) is None
        assert library.recognise(RENDERER.render(chat("You plan journeys.", talk(rng, language, 60)))) is None
    assert library.recognise("") is None
    assert library.recognise("\ud800" * 100) is None


def test_the_recognised_cluster_is_the_one_that_mining_gives(learned: Profile) -> None:
    library = Library(learned.library)
    for number, cluster in enumerate(learned.clusters):
        assert cluster.representative is not None
        found = library.recognise(cluster.representative)
        assert found is not None
        assert (found.cluster, found.certainty) == (number, 1.0)


def test_a_changed_head_is_recognised_by_its_other_sentences() -> None:
    rng = random.Random(3)
    rules = "Quote the clause before you answer. Never guess. Name the court and the year. Keep to three sentences.\n"
    before = [chat(f"You help the firm of Abel. {rules}", talk(rng, "en", 30)) for _ in range(20)]
    others = [request for _, request in chats(rng, 10)]
    profile = profile_of(before + others)
    library = Library(profile.library)
    changed = RENDERER.render(chat(f"You help the firm of Zoe. {rules}", talk(rng, "en", 30)))
    found = library.recognise(changed)
    assert found is not None
    assert 0.5 <= found.certainty < 1
    assert "firm of Abel" in (profile.clusters[found.cluster].representative or "")


def test_a_template_after_its_passage_is_recognised() -> None:
    rng = random.Random(4)
    end = "\n\nUse only the passage above and say so if it is not in there.\nAnswer in one short sentence.\nQuestion: "
    learned = [completion(talk(rng, "en", 60) + end + talk(rng, "en", 14)) for _ in range(30)]
    library = Library(profile_of(learned).library)
    found = library.recognise(talk(rng, "en", 90) + end + talk(rng, "en", 14))
    assert found is not None
    assert found.cluster == 0


def test_the_library_keeps_no_text_and_survives_its_file(learned: Profile) -> None:
    encoded = msgspec.json.encode(learned.library)
    assert not any(word.encode() in encoded for system in SYSTEMS.values() for word in system.split() if len(word) > 16)
    assert all(set(anchor) <= set("0123456789abcdef") for each in learned.library for anchor in each.anchors)

    prompt = RENDERER.render(chats(random.Random(5), 1)[0][1])
    assert Library(learned.library).recognise(prompt) is not None
    bare = profile_of([request for _, request in chats(random.Random(1), 20)], MineSettings(keep_text=False))
    assert bare.library
    assert Library(bare.library).recognise(prompt) is not None
