"""Text to ids as a model's own files say."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.errors import BadInput
from preheat.prompts.tokenizer import Tokenizer, load_tokenizer
from prompts.tiny_model import TEXTS, write_model


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load_tokenizer(write_model(tmp_path_factory.mktemp("model")))


def _changed(folder: Path, **fields: Any) -> Path:
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    return file


@given(st.text(max_size=200))
def test_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(st.lists(st.sampled_from([*TEXTS, "", "<|im_start|>user\n", "\ud800é", "x" * 100_000]), max_size=8))
@settings(max_examples=20)
def test_counts_are_those_of_encoding_one_by_one(tokenizer: Tokenizer, texts: list[str]) -> None:
    assert tokenizer.counts(texts) == [len(tokenizer.encode(text)) for text in texts]


@pytest.mark.parametrize("word", ["capital", "zebra", "42", "<|im_end|>", "{", "_"])
def test_pieces_are_the_word(tokenizer: Tokenizer, word: str) -> None:
    pieces = tokenizer.pieces([word])[0]
    assert "".join(piece.removeprefix("##") for piece in pieces) == word
    assert not pieces[0].startswith("##")
    assert len(pieces) == 1 or len(pieces) <= len(tokenizer.encode(f" {word}"))


def test_a_word_in_mid_sentence_is_fewer_pieces_than_letters(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(["capital"]) == [["capital"]]
    assert tokenizer.pieces(["capitals"])[0] == ["capital", "##s"]


def test_a_word_of_bytes_is_still_something(tokenizer: Tokenizer) -> None:
    assert all(pieces and all(pieces) for pieces in tokenizer.pieces(["龘", "é", "\u0301", "\ud800", "x"]))
    assert tokenizer.pieces([]) == []


def test_special_tokens_in_a_text_are_one_token_each(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("<|im_start|><|im_end|><s>") == [0, 1, 2]
    assert len(tokenizer.encode("<|im_start")) > 1


def test_half_a_surrogate_pair_is_replaced(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("a\ud83db") == tokenizer.encode("a�b")
    assert tokenizer.encode("a\ud83d\ude00b") == tokenizer.encode("a😀b")


def test_nothing_is_added_in_front_unless_asked_for_and_said(tmp_path: Path, tokenizer: Tokenizer) -> None:
    plain = tokenizer.encode("Paris")
    assert tokenizer.encode("Paris", special=True) == plain
    with_bos = load_tokenizer(write_model(tmp_path / "bos", add_bos_token=True))
    assert with_bos.encode("Paris") == plain
    assert with_bos.encode("Paris", special=True) == [2, *plain]
    both = load_tokenizer(write_model(tmp_path / "both", add_bos_token=True, add_eos_token=True))
    assert both.encode("Paris", special=True) == [2, *plain, 1]


def test_tokens_that_only_the_configuration_names_are_known(tmp_path: Path, tokenizer: Tokenizer) -> None:
    entry = {"content": "<|tool|>", "special": True, "normalized": False}
    larger = load_tokenizer(
        write_model(tmp_path, added_tokens_decoder={"900": entry, "0": {"content": "<|im_start|>"}})
    )
    assert len(larger.encode("a<|tool|>b")) == 3
    assert len(tokenizer.encode("a<|tool|>b")) > 3


def test_no_text_is_cut_or_filled_up(tmp_path: Path, tokenizer: Tokenizer) -> None:
    cut = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    file = _changed(write_model(tmp_path), truncation=cut)
    assert load_tokenizer(file).encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])


@pytest.mark.parametrize(
    "content", ["{}", "[]", "{", '{"model": {"type": "BPE"}}', '{"model": {"type": "X"}}', "\xff", None]
)
def test_what_is_no_tokenizer_is_named(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput, match=r"tokenizer\.json"):
        load_tokenizer(tmp_path)


def test_a_bad_configuration_is_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path, added_tokens_decoder={"x": 1})
    with pytest.raises(BadInput, match="no tokenizer"):
        load_tokenizer(folder)


def test_without_the_package_the_remedy_is_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path)
    real = builtins.__import__

    def absent(name: str, *more: Any, **fields: Any) -> Any:
        if name == "tokenizers":
            raise ImportError(name)
        return real(name, *more, **fields)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(BadInput) as caught:
        load_tokenizer(folder)
    assert "preheat[tokenizers]" in caught.value.remedy
