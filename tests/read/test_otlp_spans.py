"""Spans of several conventions and vintages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preheat.read.otlp_json import OTLPJson
from preheat.records.request import Message, ReadReport, Request

HI = (Message(role="system", content="S"), Message(role="user", content="Hi"))
OPENAI_FORM = '[{"role":"system","content":"S"},{"role":"user","content":"Hi"}]'
SYSTEM_PARTS = '{"role":"system","parts":[{"type":"text","content":"S"}]}'
USER_PARTS = '{"role":"user","parts":[{"type":"text","content":"Hi"}]}'
PARTS_FORM = f"[{SYSTEM_PARTS},{USER_PARTS}]"
USER_ONLY = f"[{USER_PARTS}]"
PARAMETERS = '{"type":"object"}'
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(entry) for entry in value]}}
        case _:
            return {"stringValue": value}


def _attributes(plain: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in plain.items()]


def _document(*spans: dict[str, Any], resource: dict[str, Any] | None = None) -> dict[str, Any]:
    scopes = [{"scope": {"name": "x"}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource or {})}, "scopeSpans": scopes}]}


def _span(
    attributes: dict[str, Any], events: list[tuple[str, dict[str, Any]]] | None = None, **fields: Any
) -> dict[str, Any]:
    happened = [{"timeUnixNano": "1", "name": name, "attributes": _attributes(plain)} for name, plain in events or []]
    return {"traceId": "t", "spanId": "s", "attributes": _attributes(attributes), "events": happened, **fields}


def _read(record: Any) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    return list(OTLPJson().requests(json.dumps(record).encode(), "log:1", report)), report


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.input.messages": OPENAI_FORM},
        {"gen_ai.input.messages": PARTS_FORM, "gen_ai.output.messages": USER_ONLY},
        {"gen_ai.input.messages": USER_ONLY, "gen_ai.system_instructions": '[{"type":"text","content":"S"}]'},
        {
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Hi",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "S",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "ANSWER",
        },
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "S",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": "Hi",
            "llm.output_messages.0.message.content": "ANSWER",
        },
        {"input.value": json.dumps({"messages": json.loads(OPENAI_FORM)}), "output.value": "ANSWER"},
        {"ai.prompt.messages": OPENAI_FORM, "ai.response.text": "ANSWER"},
        {"ai.prompt": '{"system":"S","prompt":"Hi"}'},
        {"gen_ai.prompt": OPENAI_FORM, "gen_ai.completion": "ANSWER"},
        {"llm.request.prompt": OPENAI_FORM, "llm.response.text": "ANSWER"},
    ],
)
def test_conventions_that_put_the_chat_into_attributes(attributes: dict[str, Any]) -> None:
    (request,), _ = _read(_document(_span(attributes)))
    assert (request.messages, request.prompt) == (HI, None)


@pytest.mark.parametrize(
    "events",
    [
        [
            ("gen_ai.system.message", {"content": "S"}),
            ("gen_ai.user.message", {"content": "Hi"}),
            ("gen_ai.choice", {"message": '{"role":"assistant","content":"ANSWER"}'}),
        ],
        [
            ("gen_ai.system.message", {"gen_ai.event.content": '{"content":"S","role":"system"}'}),
            ("gen_ai.user.message", {"gen_ai.event.content": '{"content":"Hi","role":"user"}'}),
        ],
        [
            ("gen_ai.content.prompt", {"gen_ai.prompt": OPENAI_FORM}),
            ("gen_ai.content.completion", {"gen_ai.completion": "A"}),
        ],
        [("gen_ai.client.inference.operation.details", {"gen_ai.input.messages": PARTS_FORM})],
    ],
)
def test_conventions_that_put_the_chat_into_events(events: list[tuple[str, dict[str, Any]]]) -> None:
    (request,), _ = _read(_document(_span({"gen_ai.request.model": "m"}, events)))
    assert request.messages == HI


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.request.prompt": "Once upon"},
        {
            "gen_ai.operation.name": "text_completion",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Once upon",
        },
        {"llm.request.type": "completion", "llm.prompts.0.content": "Once upon"},
        {"llm.prompts.0.prompt.text": "Once upon"},
    ],
)
def test_completion_prompts(attributes: dict[str, Any]) -> None:
    (request,), _ = _read(_document(_span(attributes)))
    assert (request.messages, request.prompt) == ((), "Once upon")


def test_everything_else_that_a_span_says() -> None:
    attributes = {
        "gen_ai.input.messages": OPENAI_FORM,
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-2024",
        "gen_ai.conversation.id": "c",
        "enduser.id": "e",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 34,
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "f", "parameters": {"type": "object"}}]),
    }
    (request,), _ = _read(_document(_span(attributes, startTimeUnixNano="1700000000500000000")))
    assert request == Request(
        id="t-s",
        time_s=1_700_000_000.5,
        messages=HI,
        tools=[TOOL],
        model="m",
        tenant="e",
        session="c",
        temperature=0.5,
        max_tokens=100,
        input_tokens=12,
        output_tokens=34,
        source="log:1",
    )


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.request.functions.0.name": "f", "llm.request.functions.0.parameters": PARAMETERS},
        {"llm.tools.0.tool.json_schema": json.dumps(TOOL)},
        {"gen_ai.tool.definitions": [json.dumps(TOOL)]},
    ],
)
def test_tools_of_other_conventions(attributes: dict[str, Any]) -> None:
    (request,), _ = _read(_document(_span({"gen_ai.input.messages": OPENAI_FORM, **attributes})))
    assert request.tools == [TOOL]


def test_the_tenant_may_stand_at_the_resource_and_the_service_is_no_tenant() -> None:
    span = _span({"gen_ai.input.messages": OPENAI_FORM})
    assert _read(_document(span, resource={"tenant.id": "t", "service.name": "x"}))[0][0].tenant == "t"
    assert _read(_document(span, resource={"service.name": "x"}))[0][0].tenant is None


def test_tool_calls_of_all_conventions_come_out_the_same() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    parts = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "f", "arguments": {"x": 1}}]}]
    parts += [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "42"}]}]
    numbered = {
        "gen_ai.prompt.0.role": "assistant",
        "gen_ai.prompt.0.tool_calls.0.id": "1",
        "gen_ai.prompt.0.tool_calls.0.name": "f",
        "gen_ai.prompt.0.tool_calls.0.arguments": '{"x":1}',
        "gen_ai.prompt.1.role": "tool",
        "gen_ai.prompt.1.content": "42",
        "gen_ai.prompt.1.tool_call_id": "1",
    }
    prefix = "llm.input_messages"
    openinference = {
        f"{prefix}.0.message.role": "assistant",
        f"{prefix}.0.message.tool_calls.0.tool_call.id": "1",
        f"{prefix}.0.message.tool_calls.0.tool_call.function.name": "f",
        f"{prefix}.0.message.tool_calls.0.tool_call.function.arguments": '{"x":1}',
        f"{prefix}.1.message.role": "tool",
        f"{prefix}.1.message.content": "42",
        f"{prefix}.1.message.tool_call_id": "1",
    }
    expected = (Message(role="assistant", tool_calls=[call]), Message(role="tool", content="42", tool_call_id="1"))
    for attributes in ({"gen_ai.input.messages": json.dumps(parts)}, numbered, openinference):
        assert _read(_document(_span(attributes)))[0][0].messages == expected


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"gen_ai.operation.name": "execute_tool", "input": "{}"}, "a span that is not a model call"),
        ({"gen_ai.operation.name": "embeddings", "input.value": "x"}, "a span that is not a model call"),
        ({"openinference.span.kind": "CHAIN", "input.value": "x"}, "a span that is not a model call"),
        ({"http.method": "POST"}, "a span without a prompt"),
        ({"gen_ai.operation.name": "chat", "gen_ai.output.messages": OPENAI_FORM}, "a span without a prompt"),
        ({"gen_ai.input.messages": OPENAI_FORM[:20]}, "a prompt attribute that was cut off"),
        ({"gen_ai.input.messages": "[]"}, "no messages"),
    ],
)
def test_other_spans_are_counted_and_left_out(attributes: dict[str, Any], reason: str) -> None:
    requests, report = _read(_document(_span(attributes), _span({"gen_ai.input.messages": OPENAI_FORM}, spanId="s2")))
    assert [request.id for request in requests] == ["t-s2"]
    assert report.quarantine == [("log:1#0", reason)]


def test_a_wrapper_around_a_model_call_does_not_count_twice() -> None:
    outer = _span({"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt":"Hi"}'}, spanId="outer")
    inner_attributes = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": OPENAI_FORM}
    inner = _span(inner_attributes, spanId="inner", parentSpanId="outer")
    requests, report = _read(_document(inner, outer))
    assert [request.id for request in requests] == ["t-inner"]
    assert report.skipped == {"a span around a model call that has its own span": 1}


def test_simpler_shapes() -> None:
    attributes = {"gen_ai.input.messages": OPENAI_FORM, "exgentic.session.id": "x"}
    span = {"trace_id": "t", "span_id": "s", "start_time": "2023-11-14T22:13:20.5", "attributes": attributes}
    javascript = {
        "spanContext": {"traceId": "t", "spanId": "s"},
        "startTime": [1_700_000_000, 500_000_000],
        "events": [],
    }
    for record in ({"spans": [span]}, span, {**javascript, "attributes": attributes}):
        (request,), _ = _read(record)
        assert (request.id, request.time_s, request.session, request.messages) == ("t-s", 1_700_000_000.5, "x", HI)
    (bare,), _ = _read(attributes)
    assert (bare.id, bare.time_s, bare.messages) == ("log:1", None, HI)


def test_several_spans_without_ids_get_different_ones() -> None:
    span = {"attributes": {"gen_ai.input.messages": OPENAI_FORM}}
    assert [request.id for request in _read({"spans": [span, span]})[0]] == ["log:1#0", "log:1#1"]


def test_a_chat_with_attributes_of_its_own_is_no_span() -> None:
    chat = {"messages": json.loads(OPENAI_FORM)}
    for record in ({**chat, "attributes": {"region": "eu"}}, {**chat, "llm.gateway": "x"}):
        assert OTLPJson().refusal(json.dumps(record).encode()) == "no spans, and no gen_ai attributes"
