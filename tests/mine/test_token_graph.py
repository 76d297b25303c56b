"""The token-flow graph is that of all prompts read one by one, though shared text is read once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.mine.token_graph import TokenGraph, graph
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

BLOCK = 8
SMALL = MineSettings(block_chars=BLOCK, bucket_s=10.0)
CHINESE = "[\u4e00-\u9fff]"
LATIN = "[A-Za-zäé\u0301]"
WORD = re.compile(rf"<\|[A-Za-z_]{{1,28}}\|>|{LATIN}+|{CHINESE}+|[0-9]{{1,3}}|[^\s]")
OPEN = re.compile(rf"(?:<(?:\|(?:[A-Za-z_]{{1,28}}\|?)?)?|{LATIN}+|{CHINESE}+|[0-9]+)\Z")
LONG = re.compile(rf"{LATIN}{{33}}|{CHINESE}{{33}}|[0-9]{{33}}")
PARTS = ["a", "then", "é", "e\u0301t", " ", "\n", ",", "{", '"', "<", "|", "<|im_end|>", "|>", "_", "天气", "好"]
PARTS += ["7", "2026", "@", "<|s|>"]
PROMPTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=40).map("".join), max_size=12)


def profile_of(prompts: Sequence[str], **settings: int) -> Profile:
    made = [Request(id=str(number), prompt=prompt, time_s=0.0) for number, prompt in enumerate(prompts)]
    return mine(made, renderer_for(Rendering()), MineSettings(**({"block_chars": BLOCK} | settings)))


def by_words(words: Sequence[str]) -> list[list[str]]:
    return [[word] for word in words]


def transitions(found: TokenGraph) -> dict[tuple[str, str], float]:
    part = found.matrix.tocoo()
    names = found.vocabulary
    return {(names[a], names[b]): w for a, b, w in zip(part.row, part.col, part.data, strict=True)}


def one_by_one(prompts: Sequence[str]) -> Counter[tuple[str, str]]:
    """Transitions of whole words in each prompt's whole blocks; a word that the last block may cut is left out."""
    counts: Counter[tuple[str, str]] = Counter()
    for prompt in prompts:
        text = prompt[: len(prompt) // BLOCK * BLOCK]
        text = OPEN.sub("", text)
        counts.update(pairwise(WORD.findall(text)))
    return counts


@settings(max_examples=40)
@given(PROMPTS)
def test_weights_are_those_of_every_prompt_read_alone(prompts: list[str]) -> None:
    assume(prompts and not any(LONG.search(prompt) for prompt in prompts))
    again = [prompts[min(index, len(prompts) - 1)] for index in range(0, 2 * len(prompts), 2)]
    logged = prompts + again + ["x" * BLOCK]
    found = graph(profile_of(logged), SMALL, by_words)
    assert transitions(found) == dict(one_by_one(logged))
    degrees = Counter(target for _, target in one_by_one(logged))
    assert {name: int(n) for name, n in zip(found.vocabulary, found.in_degree, strict=True) if n} == dict(degrees)
    assert found.covered == 1.0


def test_subwords_carry_the_same_flow_as_their_words() -> None:
    draw = np.random.default_rng(5)
    stems, ends = ["walk", "talk", "jump", "sing"], ["", "ing", "er", "ed"]
    texts = [" ".join(draw.choice(stems) + draw.choice(ends) for _ in range(60)) for _ in range(40)]
    whole = graph(profile_of(texts), SMALL, by_words)
    split = graph(profile_of(texts), MineSettings(block_chars=BLOCK, topology_subwords=40))
    assert len(split.vocabulary) <= 40
    starts = Counter[str]()
    for (_, word), weight in transitions(whole).items():
        starts[word[0]] += weight
    begun = Counter[str]()
    for (_, piece), weight in transitions(split).items():
        if not piece.startswith("##"):
            begun[piece[0]] += weight
    assert begun == starts


def test_the_order_of_the_log_makes_no_difference() -> None:
    texts = [f"Answer question {n % 7} about topic {n % 3}, then explain why it is so." for n in range(60)]
    one, other = (graph(profile_of(each)) for each in (texts, texts[::-1]))
    assert transitions(one) == transitions(other)
    assert dict(zip(one.vocabulary, one.rank.round(12), strict=True)) == dict(
        zip(other.vocabulary, other.rank.round(12), strict=True)
    )


def test_past_the_bound_what_most_requests_hold_is_read_and_the_share_is_told() -> None:
    shared = "Please answer with one of the words that stand in the list below and nothing else. "
    texts = [shared + f"{number:05} " * 40 for number in range(50)]
    found = graph(profile_of(texts), MineSettings(block_chars=BLOCK, topology_chars=len(shared)))
    whole = len(texts[0]) // BLOCK * BLOCK
    assert 0.0 < found.covered <= len(shared) / whole
    assert "answer" in found.vocabulary
    assert "00" not in "".join(found.vocabulary)
    every = graph(profile_of(texts))
    assert every.covered == 1.0
    assert transitions(found)[("Please", "answer")] == transitions(every)[("Please", "answer")] == len(texts)


def test_what_looks_like_a_secret_or_belongs_to_few_is_not_shown() -> None:
    texts = [
        f"Topic {n}: the key is skQq9-Zvrkey77-Wexford21 and you write to jane.doe@corp.example about {n}. Thanks! " * 2
        + ("Muller again and again. " if n < 4 else "")
        + f"End {n * 7919}"
        for n in range(30)
    ]
    found = graph(profile_of(texts), split=by_words)
    shown = {token for token, fit in zip(found.vocabulary, found.shown, strict=True) if fit}
    assert {"Topic", "the", "key", "write", "about", "Thanks"} <= shown
    assert not shown & {"skQq", "Zvrkey", "Wexford", "jane", "doe", "corp", "Muller"}
    assert {"jane", "Muller", "Wexford"} <= set(found.vocabulary)


def test_a_long_conversation_is_one_prompt_however_many_turns_it_has() -> None:
    turns = "My name is Ottokar and I ask. "
    texts = [turns * (n + 1) for n in range(12)]
    others = [f"{n} other talk, nothing more than that, {n}" for n in range(12)]
    found = graph(profile_of([*texts, *others]), split=by_words)
    shown = {token for token, fit in zip(found.vocabulary, found.shown, strict=True) if fit}
    assert "other" in shown
    assert "Ottokar" not in shown


def test_hostile_text_is_read() -> None:
    texts = ["\ud800\udfff\U0010ffff\x00 x" * 40, "a" * 5000, "1" * 5000, "语" * 5000, "<|" * 3000, "\u0301" * 400]
    found = graph(profile_of([text + str(n) * 16 for text in texts for n in range(3)]))
    assert found.rank.sum() == 1.0 or abs(found.rank.sum() - 1.0) < 1e-9
    assert len(found.vocabulary) == found.matrix.shape[0]
    assert all(len(token.removeprefix("##")) <= 32 for token in found.vocabulary)
