"""Texts that were cut before they were logged."""

from __future__ import annotations

import pytest

from preheat.read.truncation import LIMITS, uncut, up_to_the_cut, without_mark
from preheat.records.request import Message

SENTENCE = "The quick brown fox jumps over the lazy dog and "


@pytest.mark.parametrize(
    "mark",
    [
        "...[truncated]",
        " [TRUNCATED]",
        "… (truncated)",
        "<truncated due to size exceeding limit>",
        "... (1234 more characters)",
        "[... 17 more tokens ...]",
        "...truncated",
        "{truncated, 5 KB}\n",
    ],
)
def test_a_mark_is_taken_off(mark: str) -> None:
    assert without_mark("Hello wor" + mark) == ("Hello wor", True)
    assert uncut("Hello wor" + mark, limited=False) == ("Hello wor", True)


@pytest.mark.parametrize("text", ["", "Why was this truncated?", "He said [truncated] and went on.", "And then..."])
def test_text_without_a_mark_stays(text: str) -> None:
    assert uncut(text, limited=True) == (text, False)


@pytest.mark.parametrize("length", [1024, 4095, 4096, 8192, 10_000, 32_767, 65_536])
def test_an_attribute_of_just_the_usual_limit_was_cut(length: int) -> None:
    text = (SENTENCE * (length // len(SENTENCE) + 1))[:length].rstrip()
    text += "x" * (length - len(text))
    assert uncut(text, limited=True) == (text, True)
    assert uncut(text[:-3] + "...", limited=True) == (text[:-3], True)
    assert uncut(text + "...", limited=True) == (text, True)
    assert uncut(text, limited=False) == (text, False)
    assert uncut(text[:-1], limited=True)[1] is (length - 1 in LIMITS)
    assert uncut(text[:-1] + ".", limited=True) == (text[:-1] + ".", False)


def test_a_limit_in_bytes() -> None:
    text = "问" * 1365 + "x"
    assert len(text.encode()) == 4096
    assert uncut(text, limited=True) == (text, True)


def test_what_comes_after_the_cut_is_left_out() -> None:
    messages = [
        Message(role="system", content="S"),
        Message(role="user", content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b [truncated]"}, "c"]),
        Message(role="user", content="d"),
    ]
    known, cut = up_to_the_cut(messages, limited=False)
    assert cut
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert known == (messages[0], Message(role="user", content=parts))
    assert up_to_the_cut(messages[:1], limited=False) == ((messages[0],), False)
