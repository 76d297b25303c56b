"""What is a word, what is left open at an edge's end, and what looks like a secret."""

from __future__ import annotations

import pytest

from preheat.mine.columns import columns_of
from preheat.mine.edge_texts import open_chars
from preheat.mine.words import Words, read_words
from preheat.records.profile import Node, Profile


def read(*texts: str) -> Words:
    """Of edges that each continue the one before."""
    nodes = [
        Node(parent=n - 1, hash=f"{n:032x}", blocks=1, text=text, count=9 - n, first_s=0.0, last_s=0.0)
        for n, text in enumerate(texts)
    ]
    return read_words(nodes, columns_of(Profile(nodes=nodes)), 1 << 20)


def words_of(found: Words, edge: int = 0) -> list[str]:
    return [found.text(int(word)) for word in found.ids[found.offsets[edge] : found.offsets[edge + 1]]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop: naïve façade.", ["Don", "'", "t", "stop", ":", "naïve", "façade", "."]),
        ("天气很好，东京です。", ["天气很好", "，", "东京です", "。"]),
        ("हिन्दी और 한국어 문장!", ["हिन्दी", "और", "한국어", "문장", "!"]),
        ("call 2026-01 or 1234567;", ["call", "202", "6", "-", "01", "or", "123", "456", "7", ";"]),
        ("<|im_start|>user\n<|not closed ", ["<|im_start|>", "user", "<", "|", "not", "closed"]),
        ("tab\tline\u2028zero\u200bwidth ", ["tab", "line", "zero", "width"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(read(text)) == words


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("the capi", "capi"),
        ("ends. ", ""),
        ("ends.", ""),
        ("今天天气", "今天天气"),
        ("x = 12", "12"),
        ("done <|im_st", "<|im_st"),
        ("done <|im_end|>", ""),
        ("a <", "<"),
        ("a < b", "b"),
        ("x" * 32, "x" * 32),
        ("x" * 33, ""),
        ("", ""),
    ],
)
def test_what_is_open_at_the_end_goes_on_below(text: str, rest: str) -> None:
    assert text[len(text) - open_chars(text) :] == rest


def test_a_word_over_an_edge_is_the_childs_and_follows_the_parents_last() -> None:
    found = read("We start the concl", "usion with <|im_", "end|> now ")
    assert [words_of(found, edge) for edge in range(3)] == [
        ["We", "start", "the"],
        ["conclusion", "with"],
        ["<|im_end|>", "now"],
    ]
    before = [found.text(int(found.ids[place])) if place >= 0 else None for place in found.before]
    assert before == [None, "the", "with"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key sk-proj-a1B2c3D4e5F6 end ", {"sk", "proj", "a", "B", "c", "D", "e", "F"}),
        ("mail jane.doe@corp.example now ", {"jane", "doe", "corp", "example"}),
        ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ", {"f", "e", "d", "c"}),
        ("well-known state-of-the-art short1 ", set()),
        ("看 abc 天气 ", set()),
    ],
)
def test_what_looks_like_a_secret_is_marked(text: str, secret: set[str]) -> None:
    found = read(text)
    hidden = {found.text(int(word)) for word, fit in zip(found.ids, found.open, strict=True) if not fit}
    assert secret <= hidden
    assert not hidden & {"key", "end", "mail", "now", "id", "well", "known", "short", "看", "天气"}
