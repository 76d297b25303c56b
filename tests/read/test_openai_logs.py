"""OpenAI-style lines, the usual and the odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.errors import BadInput
from preheat.read.openai_jsonl import OpenAIJsonl
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

HI = [{"role": "user", "content": "Hi"}]
TOOL = {"type": "function", "function": {"name": "f"}}


def _requests(record: Any) -> list[Request]:
    return list(OpenAIJsonl().requests(json.dumps(record).encode(), "log:1", ReadReport()))


def _one(record: Any) -> dict[str, Any]:
    (request,) = _requests(record)
    given = {name: getattr(request, name) for name in Request.__struct_fields__}
    return {k: v for k, v in given.items() if v not in (None, ()) and v is not False and k != "source"}


HI_MESSAGES = (Message(role="user", content="Hi"),)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"messages": HI}, {"id": "log:1", "messages": HI_MESSAGES}),
        (
            {
                "model": "m",
                "messages": HI,
                "temperature": 0,
                "max_tokens": 9,
                "user": "u",
                "tools": [TOOL],
                "stream": True,
            },
            {
                "id": "log:1",
                "messages": HI_MESSAGES,
                "model": "m",
                "temperature": 0.0,
                "max_tokens": 9,
                "tenant": "u",
                "tools": [TOOL],
            },
        ),
        ({"prompt": "Once", "max_tokens": 5}, {"id": "log:1", "prompt": "Once", "max_tokens": 5}),
        (
            {"custom_id": "c", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": HI}},
            {"id": "c", "messages": HI_MESSAGES, "model": "m"},
        ),
        (
            {
                "request_id": "r",
                "timestamp": 0.5,
                "tenant": "t",
                "app": "a",
                "kind": "chat",
                "session_id": "s",
                "turn": 1,
                "messages": HI,
                "tools": [],
            },
            {"id": "r", "time_s": 0.5, "tenant": "t", "session": "s", "messages": HI_MESSAGES},
        ),
        (
            {"request": {"messages": HI, "user": "u"}, "created": 1.7e12},
            {"id": "log:1", "time_s": 1.7e9, "tenant": "u"},
        ),
        (
            {"request_body": json.dumps({"prompt": "P"}), "time": "2023-11-14T22:13:20Z"},
            {"prompt": "P", "time_s": 1.7e9},
        ),
        (
            {"request": {"url": "/v1/completions", "body": {"prompt": "P", "lora": "l"}}},
            {"prompt": "P", "adapter": "l"},
        ),
        (
            {"messages": HI, "metadata": {"tenant_id": "t", "session_id": "s"}, "user": "u"},
            {"tenant": "t", "session": "s"},
        ),
        ({"messages": HI, "metadata": {"user_id": 7}}, {"tenant": "7"}),
        ({"messages": HI, "id": 17, "tenant": 3, "adapter": "a"}, {"id": "17", "tenant": "3", "adapter": "a"}),
        (
            {"messages": HI, "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
            {"input_tokens": 5, "output_tokens": 2},
        ),
        (
            {"body": {"messages": HI}, "response": {"body": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}}},
            {"messages": HI_MESSAGES, "input_tokens": 5, "output_tokens": 2},
        ),
        ({"messages": HI, "temperature": "warm", "max_tokens": "many", "timestamp": "soon"}, {"messages": HI_MESSAGES}),
        ({"messages": HI, "functions": [{"name": "f"}]}, {"tools": [TOOL]}),
        ({"messages": HI, "system": "S"}, {"messages": (Message(role="system", content="S"), *HI_MESSAGES)}),
        (
            {
                "url": "/v1/responses",
                "body": {"input": "Hi", "instructions": "S", "tools": [{"type": "function", "name": "f"}]},
            },
            {"messages": (Message(role="system", content="S"), *HI_MESSAGES), "tools": [TOOL]},
        ),
        ({"input": [{"role": "user", "content": "Hi"}, {"type": "reasoning"}]}, {"messages": HI_MESSAGES}),
        (
            {"messages": [{"role": "human", "content": {"text": "x"}}]},
            {"messages": (Message("user", [{"text": "x"}]),)},
        ),
    ],
)
def test_what_a_line_says(record: dict[str, Any], expected: dict[str, Any]) -> None:
    said = _one(record)
    assert {name: said.get(name) for name in expected} == expected


def test_a_line_says_no_more_than_it_does() -> None:
    assert _one({"messages": HI}).keys() == {"id", "messages"}
    assert _one({"body": {"prompt": "P"}}).keys() == {"id", "prompt"}


def test_tool_calls_and_parts_are_kept() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    parts = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}]
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
    ]
    expected = (
        Message(role="user", content=parts),
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", content="42", tool_call_id="1"),
    )
    for record in ({"messages": messages}, {"body": {"messages": messages}}):
        assert _one(record)["messages"] == expected


def test_a_list_of_prompts_is_as_many_requests() -> None:
    assert [(request.id, request.prompt) for request in _requests({"id": "r", "prompt": ["a", "b"]})] == [
        ("r#0", "a"),
        ("r#1", "b"),
    ]
    assert _one({"id": "r", "prompt": ["a"]}) == {"id": "r", "prompt": "a"}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"id": "x", "object": "chat.completion", "choices": [{"message": HI[0]}]}, "a response without its request"),
        ({"custom_id": "c", "response": {"body": {"choices": []}}}, "a response without its request"),
        ({"url": "/v1/embeddings", "body": {"input": "text"}}, "an embedding or other request without a prompt"),
        ({"input": ["a", "b"], "model": "e"}, "an embedding or other request without a prompt"),
        ({"messages": []}, "no messages"),
        ({"messages": "Hi"}, "messages are not a list"),
        ({"messages": ["Hi"]}, "a message is not an object"),
        ({"messages": [{"content": "Hi"}]}, "a message has no role"),
        ({"messages": [{"role": "user", "content": 7}]}, "a message's content is neither text nor parts"),
        ({"prompt": [1, 2, 3]}, "the prompt is given as token ids"),
        ({"prompt": {"a": 1}}, "the prompt is not text"),
        ({"level": "info"}, "neither messages nor a prompt"),
        ([], "not a JSON object"),
        ("text", "not a JSON object"),
    ],
)
def test_why_a_line_is_left_out(record: Any, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        _requests(record)
    assert caught.value.message == reason
    assert OpenAIJsonl().refusal(json.dumps(record).encode()) == reason


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"{", "not JSON"),
        (b'{"prompt": "\xff"}', "invalid UTF-8"),
        (b'{"prompt": "\\ud800"}', "not JSON"),
        (b'{"messages": ' + b"[" * 100_000, "JSON nested too deeply"),
    ],
)
def test_bytes_that_are_no_record(record: bytes, reason: str) -> None:
    assert OpenAIJsonl().refusal(record) == reason


def test_unreadable_is_of_our_hierarchy(tmp_path: Path) -> None:
    assert issubclass(Unreadable, BadInput)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        *((name, "time_s", 1_700_000_000.5) for name in ("ts", "@timestamp", "start_time", "request_time", "time_s")),
        *((name, "session", "five") for name in ("session", "thread_id", "conversation")),
        *((name, "tenant", "five") for name in ("organization", "team_id", "user_id")),
        ("parent", "parent", "five"),
        ("turn_index", "turn", 5),
        ("max_output_tokens", "max_tokens", 5),
    ],
)
def test_rarer_names_beside_plain_messages(name: str, field: str, value: object) -> None:
    (request,) = _requests({"messages": HI, name: value})
    assert getattr(request, field) == value
