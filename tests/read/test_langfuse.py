"""Langfuse: traces with observations, single observations, and whatever its users and SDKs put into ``input``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from preheat.read.langfuse import Langfuse
from preheat.read.reader import read_requests
from preheat.records.request import Message, ReadReport, Request

CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]
HI = (Message(role="system", content="S"), Message(role="user", content="Hi"))
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def _observation(input: Any, **fields: Any) -> dict[str, Any]:
    times = {"startTime": "2023-11-14T22:13:20.500Z", "endTime": "2023-11-14T22:13:22Z"}
    return {"id": "o", "traceId": "t", "type": "GENERATION", **times, "input": input, "output": "ANSWER", **fields}


def _read(record: Any) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    return list(Langfuse().requests(json.dumps(record).encode(), "log:1", report)), report


@pytest.mark.parametrize(
    "input",
    [
        CHAT,
        json.dumps(CHAT),
        json.dumps(json.dumps(CHAT)),
        {"messages": CHAT},
        json.dumps({"messages": CHAT, "model": "m"}),
        {"kwargs": {"messages": CHAT}},
        {"messages": [CHAT]},
        {"system": "S", "messages": CHAT[1:]},
        [{"role": "system", "parts": [{"type": "text", "content": "S"}]}, CHAT[1]],
        {"config": {"system_instruction": "S"}, "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        {"systemInstruction": {"parts": [{"text": "S"}]}, "contents": [{"parts": [{"text": "Hi"}]}]},
        [{"type": "system", "content": "S"}, {"type": "human", "content": "Hi"}],
        [
            {"lc": 1, "type": "constructor", "id": ["langchain", "SystemMessage"], "kwargs": {"content": "S"}},
            {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Hi"}},
        ],
        "system: S\nuser: Hi",
    ],
)
def test_all_that_stands_as_input(input: Any) -> None:
    (request,), _ = _read({"trace": {"id": "t"}, "observations": [_observation(input)]})
    assert (request.messages, request.prompt) == (HI, None)
    assert not request.truncated
    assert "ANSWER" not in str(request)


def test_plain_text_is_a_prompt() -> None:
    (request,), _ = _read(_observation("Once upon a time"))
    assert (request.messages, request.prompt) == ((), "Once upon a time")


@pytest.mark.parametrize(
    "shape",
    [
        lambda trace, observation: {"trace": trace, "observations": [observation]},
        lambda trace, observation: {**trace, "observations": [observation]},
        lambda trace, observation: {**observation, "userId": "u", "sessionId": "s"},
        lambda trace, observation: {"data": [{**observation, "userId": "u", "sessionId": "s"}], "meta": {}},
    ],
)
def test_everything_else_that_is_said(shape: Any) -> None:
    parameters = {"temperature": "0.5", "max_tokens": 100, "top_p": "0.9", "seed": "null", "stop": '["\\n"]'}
    observation = _observation(
        CHAT,
        parentObservationId="p",
        model="m",
        modelParameters=parameters,
        usageDetails={"input": 12, "output": 34},
        metadata=json.dumps({"attributes": {"lora": "a", "gen_ai.tool.definitions": json.dumps([TOOL])}}),
    )
    (request,), _ = _read(shape({"id": "t", "userId": "u", "sessionId": "s", "input": "not this"}, observation))
    assert request == Request(
        id="t-o",
        time_s=1_700_000_000.5,
        messages=HI,
        tools=[TOOL],
        model="m",
        adapter="a",
        tenant="u",
        session="s",
        parent="t-p",
        temperature=0.5,
        sampling={"top_p": 0.9, "stop": ["\n"]},
        max_tokens=100,
        input_tokens=12,
        output_tokens=34,
        source="log:1",
    )


def test_rows_with_the_names_of_its_tables() -> None:
    row = {"id": "o", "trace_id": "t", "type": "GENERATION", "start_time": "2023-11-14 22:13:20"}
    row |= {"input": json.dumps(CHAT), "provided_model_name": "m"}
    row |= {"model_parameters": '{"temperature":0}', "usage_details": '{"input":5,"output":6}'}
    (request,), _ = _read({**row, "user_id": "u", "parent_observation_id": ""})
    assert (request.id, request.time_s, request.model, request.tenant) == ("t-o", 1.7e9, "m", "u")
    assert (request.temperature, request.input_tokens, request.output_tokens) == (0.0, 5, 6)
    assert request.parent is None


def test_what_is_no_call_of_a_model_is_counted() -> None:
    observations = [
        {**_observation({"q": 1}), "type": "SPAN"},
        {**_observation("x"), "type": "EMBEDDING"},
        _observation(None),
        _observation(["role='user' content='x'"], id="b"),
        _observation([{"role": "tool", "content": "42", "tool_call_id": "1"}], id="c"),
        _observation({"foo": "bar"}, id="d"),
    ]
    requests, report = _read({"observations": observations})
    assert requests == []
    assert report.skipped == {
        "an observation that is not a model call": 2,
        "an observation without a prompt": 1,
        "messages written as a program prints them": 1,
        "a prompt without its beginning": 1,
        "a prompt attribute of unknown shape": 1,
    }


def test_of_two_views_of_one_call_the_inner_one_is_read() -> None:
    outer = _observation({"prompt": "Hi"}, id="outer")
    inner = _observation(CHAT, id="inner", parentObservationId="outer")
    later = {"startTime": "2023-11-14T23:00:00Z", "endTime": "2023-11-14T23:00:01Z"}
    after = _observation(CHAT, id="after", parentObservationId="inner", **later)
    requests, report = _read({"observations": [outer, inner, after]})
    assert [request.id for request in requests] == ["t-inner", "t-after"]
    assert report.skipped == {"an observation around a model call that has its own": 1}


def test_a_prompt_that_is_only_in_the_attributes() -> None:
    attributes = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Hi"}
    for input in (None, ["role='user' content='Hi'"]):
        (request,), _ = _read(_observation(input, metadata={"attributes": attributes}))
        assert request.messages == HI[1:]


def test_tools_that_its_langchain_handler_writes_as_messages() -> None:
    messages = [*CHAT, {"role": "tool", "content": TOOL}]
    (request,), _ = _read(_observation(messages))
    assert (request.messages, request.tools) == (HI, [TOOL])
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    said = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": calls}}
    (request,), _ = _read(_observation([*CHAT, said, {"role": "tool", "content": "42", "tool_call_id": "1"}]))
    assert request.messages[2:] == (
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", content="42", tool_call_id="1"),
    )


@pytest.mark.parametrize(
    "defined",
    [
        {"toolDefinitions": {"f": '{"parameters": {"type": "object"}}'}},
        {
            "metadata": {
                "attributes": {
                    "model_request_parameters": {
                        "function_tools": [
                            {"name": "f", "parameters_json_schema": {"type": "object"}, "description": None}
                        ]
                    }
                }
            }
        },
        {
            "metadata": {
                "attributes": {
                    "ai.prompt.tools": [
                        json.dumps({"type": "function", "name": "f", "inputSchema": {"type": "object"}})
                    ]
                }
            }
        },
    ],
)
def test_tools_where_langfuse_and_sdks_keep_them(defined: dict[str, Any]) -> None:
    (request,), _ = _read(_observation(CHAT, **defined))
    (tool,) = request.tools or []
    assert tool["function"]["name"] == "f"
    assert tool["function"]["parameters"] == {"type": "object"}


def test_an_input_that_was_cut() -> None:
    text = json.dumps([{"role": "system", "content": "S"}, {"role": "user", "content": "Hello, how are"}])
    (request,), _ = _read(_observation(text[:-7]))
    assert request.truncated
    assert request.messages == (HI[0], Message(role="user", content="Hello, how"))


def test_a_table_as_csv(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "type": "GENERATION", "input": json.dumps(json.dumps({"messages": CHAT})), "userId": "u"},
        {"id": "b", "type": "SPAN", "input": '{"q": 1}'},
        {"id": "a", "type": "GENERATION", "input": json.dumps(CHAT)},
    ]
    with (tmp_path / "log.csv").open("w", newline="") as log:
        writer = csv.DictWriter(log, ["id", "traceId", "type", "input", "output", "userId"])
        writer.writeheader()
        writer.writerows({"traceId": "t", "output": "ANSWER", **row} for row in rows)
    report = ReadReport()
    (request,) = read_requests([str(tmp_path / "log.csv")], report=report)
    assert (request.id, request.messages, request.tenant) == ("t-a", HI, "u")
    assert report.formats == {"langfuse-csv": 1}
    assert report.skipped == {"an observation that is not a model call": 1, "a span that was exported before": 1}
