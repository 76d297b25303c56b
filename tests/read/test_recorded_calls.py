"""Recorded calls of provider APIs: which are read, what they tell, and how the others are counted."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest

from preheat.read.reader import read_requests
from preheat.read.recorded_calls import RecordedCalls
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]
HI = (Message(role="system", content="S"), Message(role="user", content="Hi"))


def _read(uri: str, request: Any, response: Any = None, **fields: Any) -> Request:
    record = {"method": "POST", "uri": uri, "request": request, "status": 200, "response": response, **fields}
    (found,) = RecordedCalls().requests(json.dumps(record).encode(), "log:1", ReadReport())
    return found


@pytest.mark.parametrize(
    ("uri", "body"),
    [
        ("https://api.openai.com/v1/chat/completions", {"model": "m", "messages": CHAT}),
        ("https://x.openai.azure.com/openai/deployments/m/chat/completions?api-version=1", {"messages": CHAT}),
        ("http://localhost:8000/v1/chat/completions", json.dumps({"messages": CHAT})),
        ("https://api.openai.com/v1/responses", {"model": "m", "instructions": "S", "input": "Hi"}),
        ("https://api.anthropic.com/v1/messages", {"system": "S", "messages": CHAT[1:], "max_tokens": 9}),
        ("http://127.0.0.1:11434/api/chat", {"model": "m", "messages": CHAT, "options": {}}),
        ("http://127.0.0.1:11434/api/generate", {"model": "m", "system": "S", "prompt": "Hi", "raw": False}),
    ],
)
def test_dialects_that_are_read(uri: str, body: Any) -> None:
    request = _read(uri, body, {"choices": [{"message": {"content": "ANSWER"}}]})
    assert (request.messages, request.prompt) == (HI, None)
    assert "ANSWER" not in str(request)


@pytest.mark.parametrize(
    ("uri", "body"),
    [
        ("https://api.openai.com/v1/completions", {"prompt": "Once upon"}),
        ("http://localhost:8000/v1/completions", {"prompt": ["Once upon"]}),
        ("https://api.anthropic.com/v1/complete", {"prompt": "Once upon", "max_tokens_to_sample": 5}),
        ("http://127.0.0.1:11434/api/generate", {"prompt": "Once upon", "raw": True}),
    ],
)
def test_completions(uri: str, body: Any) -> None:
    request = _read(uri, body)
    assert (request.messages, request.prompt) == ((), "Once upon")


OPENAI_ANSWER = {"id": "chatcmpl-1", "created": 1_700_000_000, "usage": {"prompt_tokens": 12, "completion_tokens": 34}}
OPENAI_STREAM = (
    'data: {"id":"chatcmpl-1","created":1700000000,"choices":[]}\n\ndata: {"id":"chatcmpl-1","choices":[]}\n\n'
    'data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":34}}\n\ndata: [DONE]\n\n'
)
RESPONSES_STREAM = (
    'event: response.created\ndata: {"response":{"id":"chatcmpl-1","created_at":1700000000}}\n'
    'event: response.completed\ndata: {"response":{"usage":{"input_tokens":12,"output_tokens":34}}}\n'
)


@pytest.mark.parametrize("response", [OPENAI_ANSWER, json.dumps(OPENAI_ANSWER), OPENAI_STREAM, RESPONSES_STREAM])
def test_the_answer_tells_id_time_and_tokens(response: Any) -> None:
    request = _read("https://api.openai.com/v1/chat/completions", {"messages": CHAT}, response)
    assert (request.id, request.time_s) == ("chatcmpl-1", 1_700_000_000)
    assert (request.input_tokens, request.output_tokens) == (12, 34)


def test_an_answer_that_tells_no_time() -> None:
    assert _read("http://e/v1/chat/completions", {"messages": CHAT}, {"id": "", "created": 0}).time_s is None
    assert _read("http://e/v1/chat/completions", {"messages": CHAT}, {"id": "", "created": 0}).id == "log:1"


def test_anthropic_counts_what_its_cache_took_part_in_apart() -> None:
    usage = {"input_tokens": 2, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3, "output_tokens": 4}
    stream = "".join(
        f"event: x\ndata: {json.dumps(event)}\n\n"
        for event in (
            {"type": "message_start", "message": {"id": "msg_1", "usage": {**usage, "output_tokens": 1}}},
            {"type": "message_delta", "usage": {"output_tokens": 4}},
        )
    )
    for response in ({"id": "msg_1", "usage": usage}, stream):
        request = _read("https://api.anthropic.com/v1/messages", {"messages": CHAT}, response)
        assert (request.id, request.input_tokens, request.output_tokens) == ("msg_1", 12, 4)


def test_what_stands_beside_the_call_is_said_of_it() -> None:
    body = {"messages": CHAT, "model": "m", "temperature": 0.5, "max_tokens": 9}
    said = {"timestamp": 1_700_000_000, "tenant": "t", "session_id": "s", "request_id": "r"}
    request = _read("http://e/v1/chat/completions", body, OPENAI_ANSWER, **said)
    assert (request.id, request.time_s, request.tenant, request.session) == ("r", 1.7e9, "t", "s")
    assert (request.model, request.temperature, request.max_tokens) == ("m", 0.5, 9)


def test_ollamas_options_are_parameters() -> None:
    options = {"temperature": 0, "num_predict": 7}
    request = _read("http://127.0.0.1:11434/api/chat", {"messages": CHAT, "options": options})
    assert (request.temperature, request.max_tokens) == (0.0, 7)


@pytest.mark.parametrize(
    ("uri", "body", "reason"),
    [
        ("https://api.openai.com/v1/embeddings", {"input": "x", "model": "m"}, "an embeddings call"),
        ("https://api.openai.com/v1/images/generations", {"prompt": "a cat"}, "an image call"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", {"messages": CHAT}, "a Bedrock call"),
        ("https://generativelanguage.googleapis.com/v1beta/m:generateContent", {"contents": []}, "a Gemini call"),
        ("https://api.cohere.com/v2/chat", {"messages": CHAT}, "a Cohere call"),
        ("https://api.cohere.com/v1/rerank", {"query": "x"}, "a rerank call"),
        ("https://api.openai.com/v1/chat/completions", None, "a call without a body"),
        (
            "https://api.openai.com/v1/responses",
            {"input": "and then?", "conversation": "c"},
            "a prompt that goes on from one that the provider keeps",
        ),
        ("https://api.openai.com/v1/responses", {"prompt": {"id": "p"}}, "a call of a prompt that the provider keeps"),
        ("https://api.openai.com/v1/files", {"purpose": "x"}, "neither messages nor a prompt"),
    ],
)
def test_other_calls_are_named(uri: str, body: Any, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        _read(uri, body)
    assert caught.value.message == reason


@pytest.mark.parametrize(("status", "is_read"), [(200, True), (400, False), (401, False), (429, True), (503, True)])
def test_a_call_that_was_refused_asked_nothing_of_a_model(status: int, is_read: bool) -> None:
    with nullcontext() if is_read else pytest.raises(Unreadable, match="refused"):
        assert _read("http://e/v1/chat/completions", {"messages": CHAT}, status=status).messages == HI


def test_the_envelope_is_told_from_an_openai_line(tmp_path: Any) -> None:
    called = {"method": "POST", "uri": "https://api.openai.com/v1/embeddings", "request": {"input": "x"}}
    chat = {"method": "POST", "url": "http://e/v1/chat/completions", "request": {"messages": CHAT}}
    (tmp_path / "log").write_text("\n".join(map(json.dumps, (called, chat))))
    report = ReadReport()
    assert len(list(read_requests([str(tmp_path / "log")], report=report))) == 1
    assert report.formats == {"api-calls": 1}
    assert report.skipped == {"an embeddings call": 1}
    batch = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": CHAT}}
    assert RecordedCalls().refusal(json.dumps(batch).encode()) is not None


def test_a_call_that_is_known_and_left_out_is_not_read_as_something_else(tmp_path: Any) -> None:
    bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke"
    body = {"anthropic_version": "bedrock-2023-05-31", "messages": CHAT[1:], "max_tokens": 9}
    calls = [{"method": "POST", "uri": uri, "request": body} for uri in (bedrock, "http://e/v1/messages")]
    refused = {**calls[1], "status": 400}
    (tmp_path / "log").write_text("\n".join(map(json.dumps, (*calls, refused, {"messages": CHAT}))))
    report = ReadReport()
    assert len(list(read_requests([str(tmp_path / "log")], report=report))) == 2
    assert report.formats == {"api-calls": 1, "openai-jsonl": 1}
    assert report.skipped == {"a Bedrock call": 1, "a call that was refused (HTTP 4xx)": 1}
