"""Cutting prompts that are too long."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from preheat.prompts.chatml import content_text
from preheat.records.request import Message, Request
from preheat.replay.clip import clip


def chars(request: Request) -> int:
    return sum(len(content_text(message.content)) for message in request.messages) + len(request.prompt or "")


def chat(*contents: Any) -> Request:
    return Request(id="r", messages=tuple(Message(role="user", content=content) for content in contents))


def test_a_prompt_loses_its_end() -> None:
    assert clip(Request(id="r", prompt="0123456789"), 0.7).prompt == "0123456"
    assert clip(Request(id="r", prompt="0123456789"), -0.2).prompt == ""


def test_the_longest_message_loses_its_end_and_the_others_stay() -> None:
    cut = clip(chat("short", "x" * 90 + "END", "mid"), 0.5)
    assert [message.content for message in cut.messages] == ["short", "x" * 42, "mid"]


def test_where_one_message_is_not_enough_the_next_longest_follows() -> None:
    cut = clip(chat("a" * 40, "b" * 50, "c" * 10), 0.3)
    assert [message.content for message in cut.messages] == ["a" * 20, "", "c" * 10]


def test_a_message_in_parts_is_cut_as_its_text() -> None:
    cut = clip(chat([{"type": "text", "text": "a" * 60}, {"type": "text", "text": "b" * 40}], "q"), 0.5)
    assert cut.messages[0].content == "a" * 49
    assert cut.messages[1].content == "q"


def test_nothing_to_cut_is_left_alone() -> None:
    request = chat(None, "")
    assert clip(request, 0.5) == request
    assert clip(Request(id="r"), 0.5) == Request(id="r")


@given(st.lists(st.text(max_size=40), max_size=6), st.floats(-1, 1))
def test_about_that_share_is_kept_and_every_message_is_a_beginning_of_itself(texts: list[str], share: float) -> None:
    request = chat(*texts)
    cut = clip(request, share)
    assert chars(cut) == int(chars(request) * max(0.0, share))
    for before, after in zip(request.messages, cut.messages, strict=True):
        assert content_text(before.content).startswith(content_text(after.content))
