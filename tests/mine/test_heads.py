"""What is said up to a place, whatever the chat format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.heads import EMPTY, Head

CHATML = "<|im_start|>system\nBe brief and kind.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2"


def whole(text: str) -> Head:
    return EMPTY.grown(text)


@pytest.mark.parametrize(
    "text",
    [
        CHATML,
        "<|start_header_id|>system<|end_header_id|>\n\nBe brief and kind.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nWhat is 2 + 2",
        "<s>[INST] <<SYS>>\nBe brief and kind.<</SYS>>\n\nWhat is 2 + 2",
        "<|system|>\nBe brief and kind.<|user|>\nWhat is 2 + 2",
    ],
)
def test_marks_are_left_out_and_messages_counted_apart(text: str) -> None:
    head = whole(text)
    assert (head.before, head.said, head.opening) == (len("Be brief and kind."), len("What is 2 + 2"), "")
    opened = whole(text[: text.index("brief")])
    assert (opened.before, opened.said) == (0, len("Be "))
    assert opened.opening.lower() in ("system", "sys")


def test_plain_text_is_one_message_counted_in_bytes() -> None:
    head = whole("请回答。")
    assert (head.before, head.said, head.opening, head.ends_well) == (0, 12, "", True)
    assert not whole("You are a").ends_well
    assert not whole("You are a good ").informative
    assert whole("Translate this:\n").informative
    assert whole("x" * 64).informative


@given(
    st.lists(
        st.sampled_from(["<|im_start|>user\n", "<|im_end|>\n", "hello ", "你好。", "[INST] ", "a < b "]), max_size=9
    )
)
def test_growing_by_pieces_that_cut_no_mark_gives_the_same(pieces: list[str]) -> None:
    grown = EMPTY
    for piece in pieces:
        grown = grown.grown(piece)
    text = "".join(pieces)
    assert grown.total == whole(text).total
    assert (grown.said, grown.opening) == (whole(text).said, whole(text).opening)
