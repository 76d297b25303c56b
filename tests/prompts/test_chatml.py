"""The default rendering, and turning a prefix of it back into messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from preheat.prompts.chatml import END, GENERATION_PROMPT, START, content_text, parse, render, render_messages
from preheat.records.request import Message, Request

TOOLS = [{"type": "function", "function": {"name": "天气", "parameters": {"a": [1, 2]}}}, {"name": "b"}]
CHAT = [Message(role="system", content="Be brief."), Message(role="user", content="Hi\n")]


def test_the_stated_form() -> None:
    assert render_messages(CHAT, TOOLS) == (
        "<|im_start|>tools\n"
        '{"type":"function","function":{"name":"天气","parameters":{"a":[1,2]}}}\n{"name":"b"}<|im_end|>\n'
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nHi\n<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_without_tools_and_without_generation_prompt() -> None:
    assert render_messages(CHAT[:1], None, False) == "<|im_start|>system\nBe brief.<|im_end|>\n"
    assert render_messages(CHAT[:1], [], False) == render_messages(CHAT[:1], None, False)


def test_tool_calls_follow_the_content() -> None:
    call = {"id": "1", "function": {"name": "f", "arguments": '{"x": 1}'}}
    said = Message(role="assistant", content=None, tool_calls=[call])
    assert render_messages([said], None, False) == (
        '<|im_start|>assistant\n[{"id":"1","function":{"name":"f","arguments":"{\\"x\\": 1}"}}]<|im_end|>\n'
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}, "c"], "abc"),
        ([{"type": "text", "content": "a"}, {"type": "image_url", "image_url": {"url": "x"}}], "a[image_url]"),
        ([{"image": 1}, 7], "[part][int]"),
    ],
)
def test_content_as_text(content: Any, text: str) -> None:
    assert content_text(content) == text


def test_a_completion_prompt_is_its_own_rendering() -> None:
    assert render(Request(id="1", prompt="Once upon")) == "Once upon"


def test_parsing_a_whole_rendering_gives_the_messages_and_says_so() -> None:
    assert parse(render_messages(CHAT, TOOLS)) == (CHAT, TOOLS, True)
    assert parse(render_messages(CHAT, TOOLS, False)) == (CHAT, TOOLS, True)


@pytest.mark.parametrize(
    ("text", "contents", "complete"),
    [
        ("<|im_start|>user\nHello wo", ["Hello wo"], False),
        ("<|im_start|>user\nHello<|im_e", ["Hello"], False),
        ("<|im_start|>user\nHello<|im_end|>", ["Hello"], True),
        ("<|im_start|>user\nHello<|im_end|>\n<|im_st", ["Hello"], False),
        ("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assis", ["Hello"], False),
        ("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n", ["Hello"], True),
        ("<|im_start|>user\n", [""], False),
        ("<|im_start|>us", [], False),
        ("Once upon a time", [], False),
        ("", [], False),
    ],
)
def test_where_a_prefix_may_end(text: str, contents: list[str], complete: bool) -> None:
    messages, tools, whole = parse(text)
    assert ([message.content for message in messages], tools, whole) == (contents, None, complete)


def test_a_cut_tool_is_dropped_and_the_whole_ones_are_kept() -> None:
    text = render_messages(CHAT, TOOLS)
    assert parse(text[: text.index('"b"')]) == ([], TOOLS[:1], False)


_words = st.text(max_size=30).filter(lambda text: "<|im_" not in text)
_messages = st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user", "assistant", "tool"]), content=_words),
    min_size=1,
    max_size=4,
)
_tools = st.none() | st.lists(st.fixed_dictionaries({"name": st.text(max_size=5)}), min_size=1, max_size=2)


@settings(max_examples=150)
@given(messages=_messages, tools=_tools, share=st.floats(0, 1))
@example(messages=[Message(role="user", content="a <")], tools=None, share=0.6)
def test_a_prefix_parsed_and_rendered_again_starts_the_same(messages: Any, tools: Any, share: float) -> None:
    text = render_messages(messages, tools)
    prefix = text[: int(len(text) * share)]
    parsed, parsed_tools, complete = parse(prefix)
    again = render_messages(parsed, parsed_tools, False)
    if complete:
        assert again in (prefix, prefix + "\n", prefix.removesuffix(GENERATION_PROMPT))
    elif parsed and prefix.rfind(START) < prefix.rfind("\n", prefix.rfind(START)):
        assert again.startswith(prefix) or prefix[len(again) :] == START[: len(prefix) - len(again)]
    else:
        assert prefix.startswith(again.removesuffix(f"{END}\n"))
