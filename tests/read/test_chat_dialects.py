"""Anthropic's messages, OpenAI's Responses, LiteLLM, ShareGPT: what becomes of each of their parts."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from preheat.errors import BadInput
from preheat.prompts.render import renderer_for
from preheat.read.reader import JSON_FORMATS, read_requests
from preheat.read.sharegpt import MOST_TURNS
from preheat.read.unreadable import Unreadable
from preheat.records.rendering import Rendering
from preheat.records.request import Message, ReadReport, Request

PIXEL = "iVBORw0KGgo" * 20


def _read(path: Path, *records: dict[str, Any]) -> tuple[list[Request], ReadReport]:
    path.write_text("\n".join(map(json.dumps, records)))
    report = ReadReport()
    return list(read_requests([str(path)], report=report)), report


def _one(tmp_path: Path, record: dict[str, Any], format: str) -> Request:
    (request,), report = _read(tmp_path / "log", record)
    assert report.formats == {format: 1}
    return request


ANTHROPIC = {
    "model": "claude-x",
    "max_tokens": 64,
    "stop_sequences": ["END"],
    "metadata": {"user_id": "u1"},
    "system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief.", "cache_control": {"type": "x"}}],
    "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}, "cache_control": {"type": "x"}}],
    "messages": [
        {"role": "user", "content": "Q"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "42"}]},
                {"type": "text", "text": "And now?"},
            ],
        },
    ],
}
ANTHROPIC_MESSAGES = (
    Message(role="system", content="Be brief."),
    Message(role="user", content="Q"),
    Message(
        role="assistant",
        content="Let me see.",
        tool_calls=[{"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
    ),
    Message(role="tool", content="42", tool_call_id="t1"),
    Message(role="user", content="And now?"),
)


@pytest.mark.parametrize(
    ("record", "id"),
    [
        (ANTHROPIC, None),
        ({"custom_id": "c1", "params": ANTHROPIC}, "c1"),
        ({"request_id": "g1", "request": {"headers": {}, "body": ANTHROPIC}}, "g1"),
        ({"id": "g2", "request_body": json.dumps(ANTHROPIC)}, "g2"),
    ],
)
def test_anthropic_messages(tmp_path: Path, record: dict[str, Any], id: str | None) -> None:
    request = _one(tmp_path, record, "anthropic-messages")
    assert request.messages == ANTHROPIC_MESSAGES
    function = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    assert request.tools == [{"type": "function", "function": function}]
    assert (request.model, request.max_tokens, request.tenant) == ("claude-x", 64, "u1")
    assert request.sampling == {"stop_sequences": ["END"]}
    assert request.id == (id or request.source)


def test_a_line_of_another_json_format_is_read_by_that_one(tmp_path: Path) -> None:
    plain = {"messages": [{"role": "user", "content": "Q"}]}
    trace = {"timestamp": 1, "input_length": 5, "output_length": 1, "hash_ids": [1]}
    share = {"id": "s", "conversations": [{"from": "human", "value": "Q"}]}
    requests, report = _read(tmp_path / "log", plain, trace, ANTHROPIC, share, {"level": "info"}, plain)
    assert report.formats == {"openai-jsonl": 3, "mooncake": 1, "sharegpt": 1}
    assert [bool(request.messages) for request in requests] == [True, False, True, True, True]
    assert requests[2].messages == ANTHROPIC_MESSAGES
    assert report.skipped == {"neither messages nor a prompt": 1}


def test_responses_items_become_a_chat(tmp_path: Path) -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Q"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"role": "user", "content": "And?"},
    ]
    shape = {"type": "json_schema", "name": "s"}
    body = {"model": "m", "instructions": "S", "input": items, "text": {"format": shape}, "max_output_tokens": 7}
    request = _one(tmp_path, {"url": "/v1/responses", "body": body}, "openai-jsonl")
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for number, name in ((1, "f"), (2, "g"))
    ]
    assert request.messages == (
        Message(role="system", content="S"),
        Message(role="user", content="Q"),
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", content="1", tool_call_id="c1"),
        Message(role="user", content="And?"),
    )
    assert (request.sampling, request.max_tokens, request.truncated) == ({"response_format": shape}, 7, False)


def test_a_response_that_goes_on_is_known_up_to_its_instructions(tmp_path: Path) -> None:
    body = {"model": "m", "instructions": "S", "input": "And?", "previous_response_id": "resp_1"}
    request = _one(tmp_path, body, "openai-jsonl")
    assert (request.parent, request.truncated) == ("resp_1", True)
    assert request.messages == (Message(role="system", content="S"),)
    whole = _prompt([Message(role="system", content="S"), Message(role="user", content="anything")])
    assert whole.startswith(renderer_for(Rendering()).render(request))


def _prompt(messages: list[Message]) -> str:
    return renderer_for(Rendering()).render(Request(id="x", messages=tuple(messages)))


def test_embeddings_are_not_taken_for_responses(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="an embedding or other request"):
        list(JSON_FORMATS["openai-jsonl"].requests(b'{"model": "e", "input": "text"}', "w", ReadReport()))


def test_sampling_is_kept_whichever_way_a_line_is_read(tmp_path: Path) -> None:
    sampling = {
        "top_p": 0.9,
        "seed": 0,
        "stop": ["a"],
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
    }
    line = {"messages": [{"role": "user", "content": "Q"}], **sampling, "temperature": 0, "stream": True}
    for record in (line, {"n": 7, "body": line}):
        request = _one(tmp_path, record, "openai-jsonl")
        assert (request.sampling, request.temperature) == (sampling, 0.0)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}},
        f"data:image/png;base64,{PIXEL}",
    ],
)
def test_media_are_hashed_and_not_kept(tmp_path: Path, part: Any) -> None:
    def read(part: Any) -> Request:
        content = [{"type": "text", "text": "What is it?"}, part]
        (request,), _ = _read(tmp_path / "log", {"messages": [{"role": "user", "content": content}]})
        return request

    request = read(part)
    assert PIXEL not in str(request)
    assert read(part).messages == request.messages
    assert read(json.loads(json.dumps(part).replace("iVBOR", "iVBOS"))).messages != request.messages
    assert request.messages[0].content[0] == {"type": "text", "text": "What is it?"}  # type: ignore[index]


def test_an_address_of_an_image_is_kept(tmp_path: Path) -> None:
    part = {"type": "image_url", "image_url": {"url": "https://x.example/cat.png"}}
    (request,), _ = _read(tmp_path / "log", {"messages": [{"role": "user", "content": [part]}]})
    assert request.messages[0].content == [part]


LITELLM: dict[str, Any] = {
    "id": "l1",
    "call_type": "acompletion",
    "startTime": "2025-01-24 09:20:46.847371",
    "endTime": 1737710447.0,
    "model": "gpt-4o",
    "prompt_tokens": 10,
    "completion_tokens": 20,
    "metadata": {"user_api_key_team_id": "team", "user_api_key_user_id": "u"},
    "trace_id": "s1",
    "model_parameters": {"temperature": 0.5, "top_p": 0.9, "tools": [{"type": "function", "function": {"name": "f"}}]},
    "messages": [{"role": "user", "content": "Q"}],
}


def test_litellm_payload(tmp_path: Path) -> None:
    request = _one(tmp_path, LITELLM, "litellm")
    assert request.messages == (Message(role="user", content="Q"),)
    assert (request.id, request.tenant, request.session, request.model) == ("l1", "team", "s1", "gpt-4o")
    assert request.time_s == pytest.approx(1737710446.847371)
    assert (request.temperature, request.sampling) == (0.5, {"top_p": 0.9})
    assert request.tools == [{"type": "function", "function": {"name": "f"}}]
    assert (request.input_tokens, request.output_tokens) == (10, 20)


def test_litellm_spend_log(tmp_path: Path) -> None:
    row = {"request_id": "r", "call_type": "acompletion", "spend": 0.1, "startTime": "2025-01-24T09:20:46Z"}
    row |= {
        "model": "m",
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "team_id": "t",
        "messages": "{}",
        "metadata": "{}",
    }
    stored = {**row, "proxy_server_request": json.dumps({"messages": [{"role": "user", "content": "Q"}], "top_p": 1})}
    with_prompt = _one(tmp_path, stored, "litellm")
    assert (with_prompt.messages, with_prompt.sampling) == ((Message(role="user", content="Q"),), {"top_p": 1})
    without = _one(tmp_path, row, "litellm")
    assert (without.messages, without.prompt, without.input_tokens, without.tenant) == ((), None, 10, "t")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"messages": "redacted-by-litellm"}, "a prompt that LiteLLM has redacted"),
        ({"call_type": "aembedding"}, "an embedding or other request without a prompt"),
        ({"messages": '[{"role": "user", "con'}, "a prompt whose JSON does not parse (cut off?)"),
    ],
)
def test_litellm_calls_that_are_left_out(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    _, report = _read(tmp_path / "log", LITELLM, {**LITELLM, **change, "id": "l2"})
    assert report.skipped == {reason: 1}


def test_a_conversation_is_one_request_for_each_answer_asked_for(tmp_path: Path) -> None:
    said = [("system", "S"), ("human", "a"), ("gpt", "A"), ("human", "b"), ("human", "c"), ("gpt", "C"), ("human", "d")]
    turns = [{"from": who, "value": what} for who, what in said]
    requests, report = _read(
        tmp_path / "log", {"id": "k", "conversations": turns}, {"id": "k2", "conversations": turns[:3]}
    )
    assert report.formats == {"sharegpt": 4}
    told = [(request.session, request.turn, request.parent, len(request.messages)) for request in requests]
    assert told == [("k", 0, None, 2), ("k", 1, "k#0", 5), ("k", 2, "k#1", 7), ("k2", 0, None, 2)]
    assert [request.messages[-1].content for request in requests] == ["a", "c", "d", "a"]
    for request, following in itertools.pairwise(requests[:3]):
        assert following.messages[: len(request.messages)] == request.messages


def test_conversations_that_are_left_out(tmp_path: Path) -> None:
    good = {"conversations": [{"from": "human", "value": "Q"}]}
    nobody = {"conversations": [{"from": "gpt", "value": "A"}]}
    unknown = {"conversations": [{"from": "alien", "value": "A"}]}
    endless = {"conversations": good["conversations"] * (MOST_TURNS + 1)}
    _, report = _read(tmp_path / "log", good, nobody, unknown, endless)
    assert report.requests == 1
    assert sum(report.skipped.values()) == 3
    assert f"a conversation of more than {MOST_TURNS} turns" in report.skipped


def test_an_envelope_beside_messages_is_no_envelope(tmp_path: Path) -> None:
    record = {"messages": [{"role": "user", "content": "Q"}], "request": {"ip": "x"}, "system": "S"}
    (request,), _ = _read(tmp_path / "log", record)
    assert [message.role for message in request.messages] == ["system", "user"]
    with pytest.raises(BadInput, match="neither messages nor a prompt"):
        _read(tmp_path / "log", {"request": {"ip": "x"}})
