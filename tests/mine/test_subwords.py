"""Subwords learnt from a log's own words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.mine.columns import columns_of
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.mine.subwords import LONGEST_UNSPACED, UNKNOWN, Subwords, learn
from preheat.mine.words import Words, read_words
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Request


def words_of(text: str) -> Words:
    request = Request(id="1", prompt=text + " " * (8 - len(text) % 8), time_s=0.0)
    profile = mine([request], renderer_for(Rendering()), MineSettings(block_chars=8))
    return read_words(profile.nodes, columns_of(profile), 1 << 20)


def learnt(text: str, most: int = 1000, least: float = 1.0) -> tuple[Words, Subwords]:
    words = words_of(text)
    return words, learn(words, np.bincount(words.ids).astype(float), most, least)


def cut(words: Words, subwords: Subwords, word: str) -> list[str]:
    number = next(n for n in range(len(words.kinds)) if words.text(n) == word)
    return [subwords.vocabulary[one] for one in subwords.ids[subwords.starts[number] : subwords.starts[number + 1]]]


def joined(pieces: Sequence[str]) -> str:
    return "".join(piece.removeprefix("##") for piece in pieces)


@settings(max_examples=40)
@given(st.text(min_size=1, max_size=120), st.integers(0, 40).map(float))
def test_pieces_are_the_word(text: str, least: float) -> None:
    words, subwords = learnt("x " + text, least=least)
    for number in range(len(words.kinds)):
        ids = subwords.ids[subwords.starts[number] : subwords.starts[number + 1]]
        pieces = [subwords.vocabulary[one] for one in ids]
        assert joined(pieces) == words.text(number)
        assert not pieces[0].startswith("##") or words.text(number).startswith("#")


def test_frequent_words_are_whole_and_rare_ones_in_frequent_pieces() -> None:
    text = "therefore " * 500 + "walking talking jumping singing " * 60 + "zorbing "
    words, subwords = learnt(text, least=40.0)
    assert cut(words, subwords, "therefore") == ["therefore"]
    rare = cut(words, subwords, "zorbing")
    assert len(rare) > 1
    assert rare[-1] == "##ing"


def test_a_script_without_spaces_has_short_pieces() -> None:
    words, subwords = learnt("今天天气很好，" * 400 + "你好，" * 100 + "今天好，" * 100)
    pieces = cut(words, subwords, "今天天气很好")
    assert all(len(piece) <= LONGEST_UNSPACED for piece in pieces)
    assert len(pieces) < 6
    assert not any(piece.startswith("##") for piece in pieces)


@pytest.mark.parametrize("most", [8, 30, 200])
def test_the_vocabulary_is_bounded_whatever_the_text(most: int) -> None:
    draw = np.random.default_rng(most)
    text = " ".join("".join(map(chr, draw.integers(0x4E00, 0x9FFF, 6))) + str(draw.integers(1000)) for _ in range(300))
    _, subwords = learnt(text + " abc def" * 50, most)
    assert len(subwords.vocabulary) <= most
    assert UNKNOWN in subwords.vocabulary


def test_numbers_have_three_digits_at_most_and_markers_are_one() -> None:
    words, subwords = learnt("call 13800138000 now <|im_start|>user 42 ")
    assert {"138", "001", "380", "00", "42", "<|im_start|>"} <= set(subwords.vocabulary)
    assert cut(words, subwords, "<|im_start|>") == ["<|im_start|>"]
