"""Tokens of a profile's edges: added up they are those of whole prefixes, and no request is counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.mine.tokens import count_tokens, sample_tokens
from preheat.prompts.render import renderer_for
from preheat.prompts.tokenizer import Tokenizer, load_tokenizer
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request
from prompts.tiny_model import TEXTS, write_model

PIECES = [*TEXTS, " the", " answer", "'s", "(x)", "\n\n", "  ", "。请", "<|im_end|>\n<|im_start|>user\n", "12 345", "é"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load_tokenizer(write_model(tmp_path_factory.mktemp("model")))


def _profile(prompts: Sequence[str], **fields: object) -> Profile:
    requests = [Request(id=str(n), time_s=float(n), prompt=prompt) for n, prompt in enumerate(prompts)]
    return mine(requests, renderer_for(Rendering()), MineSettings(**fields))  # type: ignore[arg-type]


def _prefix(profile: Profile, number: int) -> tuple[str, int, int]:
    """Text, tokens and edges from the root to the end of a node."""
    text, tokens, edges = "", 0, 0
    while number >= 0:
        node = profile.nodes[number]
        assert node.text is not None
        assert node.tokens is not None
        text, tokens, edges, number = node.text + text, tokens + node.tokens, edges + 1, node.parent
    return text, tokens, edges


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=4, max_size=30).map("".join), min_size=1, max_size=8))
@settings(max_examples=60)
def test_a_paths_tokens_are_those_of_its_text(tokenizer: Tokenizer, prompts: list[str]) -> None:
    counted = count_tokens(_profile(prompts), tokenizer.counts, "tiny", least=1)
    for number in range(len(counted.nodes)):
        text, tokens, _ = _prefix(counted, number)
        assert tokens == len(tokenizer.encode(text))
    chars = sum(len(node.text or "") for node in counted.nodes)
    if chars:
        assert counted.chars_per_token == pytest.approx(
            chars / sum(node.tokens or 0 for node in counted.nodes), abs=1e-4
        )
    assert counted.tokenizer == "tiny"


@given(st.lists(st.text(st.sampled_from("013法国请"), min_size=64, max_size=400), min_size=1, max_size=6))
@settings(max_examples=60)
def test_without_words_it_is_off_by_a_token_or_two_an_edge(tokenizer: Tokenizer, prompts: list[str]) -> None:
    counted = count_tokens(
        _profile([*prompts, *(prompt[:128] + "1" * 64 for prompt in prompts)]), tokenizer.counts, least=1
    )
    for number in range(len(counted.nodes)):
        text, tokens, edges = _prefix(counted, number)
        assert abs(tokens - len(tokenizer.encode(text))) <= 2 * (edges - 1)


def test_each_edge_is_counted_once_and_what_is_rare_by_sample(tokenizer: Tokenizer) -> None:
    shared = TEXTS[0] * 20
    prompts = [shared + f" Question {number}: " + TEXTS[1] * 4 for number in range(200)]
    seen: list[int] = []

    def counts(texts: Sequence[str]) -> list[int]:
        seen.extend(map(len, texts))
        return tokenizer.counts(texts)

    profile = _profile([*prompts, shared])
    counted = count_tokens(profile, counts)
    assert sum(seen) < 0.1 * sum(map(len, prompts))
    assert {node.count > 1 for node in counted.nodes if node.tokens is not None} == {True}
    assert {node.count for node in counted.nodes if node.tokens is None} == {1}
    exact = count_tokens(profile, tokenizer.counts, least=1).chars_per_token
    assert counted.chars_per_token == pytest.approx(exact, rel=0.03)
    assert [msgspec.structs.replace(node, tokens=None) for node in counted.nodes] == profile.nodes


def test_what_has_no_text_has_no_tokens(tokenizer: Tokenizer) -> None:
    counted = count_tokens(_profile([TEXTS[0] * 3] * 2, keep_text=False), tokenizer.counts)
    assert [node.tokens for node in counted.nodes] == [None]
    assert counted.chars_per_token is None
    assert sample_tokens(counted, tokenizer.counts).chars_per_token is None


def test_a_sample_is_of_what_is_asked_for_most(tokenizer: Tokenizer, tmp_path: Path) -> None:
    profile = _profile([TEXTS[0] * 100] * 3 + ["1" * 3_000_000])
    found = sample_tokens(profile, tokenizer.counts, "http://engine")
    assert found.chars_per_token == pytest.approx(9600 / len(tokenizer.encode(TEXTS[0] * 100)), rel=0.02)
    assert (found.tokenizer, found.nodes) == ("http://engine", profile.nodes)
