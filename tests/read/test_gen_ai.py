"""What frameworks and instrumentations make of a prompt: forms, parameters, owners, and prompts that were cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.read.otlp_json import OTLPJson
from preheat.read.reader import read_requests
from preheat.records.request import Message, ReadReport, Request

CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]
FORM = json.dumps(CHAT, separators=(",", ":"))
SYSTEM, USER = HI = (Message(role="system", content="S"), Message(role="user", content="Hi"))
CUT_USER = Message(role="user", content="H")
CONTENTS = [{"role": "user", "parts": [{"text": "Hi"}]}]
LANGCHAIN = [
    {"lc": 1, "id": ["SystemMessage"], "kwargs": {"content": "S"}},
    {"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "Hi"}},
]
EVENTS = [
    {"event.name": "gen_ai.system.message", "role": "system", "content": "S"},
    {"event.name": "gen_ai.user.message", "role": "user", "content": "Hi"},
    {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "ANSWER"}},
]


def _span(attributes: dict[str, Any], *events: tuple[str, dict[str, Any]], **fields: Any) -> dict[str, Any]:
    happened = [{"name": name, "attributes": said} for name, said in events]
    return {"traceId": "t", "spanId": "s", "attributes": attributes, "events": happened, **fields}


def _read_all(record: Any) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    return list(OTLPJson().requests(json.dumps(record).encode(), "log:1", report)), report


def _read(attributes: dict[str, Any], *events: tuple[str, dict[str, Any]], **fields: Any) -> Request:
    (request,), report = _read_all(_span(attributes, *events, **fields))
    assert report.skipped == {}
    return request


def _numbered(*contents: str, first: int = 0) -> dict[str, str]:
    found = {}
    for number, content in enumerate(contents, first):
        found |= {f"gen_ai.prompt.{number}.role": "user", f"gen_ai.prompt.{number}.content": content}
    return found


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm": {"input_messages": [{"message": message} for message in CHAT]}},
        {"llm.input_messages": json.dumps([{"message": message} for message in CHAT])},
        {"gcp.vertex.agent.llm_request": {"config": {"system_instruction": "S"}, "contents": CONTENTS}},
        {"request_data": json.dumps({"messages": CHAT, "model": "m"})},
        {"all_messages_events": json.dumps(EVENTS)},
        {"input.value": json.dumps({"messages": [LANGCHAIN]})},
        {"input.value": json.dumps({"instructions": "S", "input": "Hi", "model": "m"})},
        {"gen_ai.input.messages": json.dumps(json.dumps(FORM))},
        {"gen_ai.prompt": "system: S\nuser: Hi"},
    ],
)
def test_forms_of_frameworks(attributes: dict[str, Any]) -> None:
    request = _read(attributes)
    assert (request.messages, request.prompt, request.truncated) == (HI, None, False)


@pytest.mark.parametrize(
    "text", ["user: a\nassistant:", "Human: a\n\nAssistant:", "users: many", "[INST] Hi", "{x} is"]
)
def test_text_that_is_no_chat_stays_a_prompt(text: str) -> None:
    assert _read({"gen_ai.prompt": text}).prompt == text


def test_a_flat_record_of_the_articles_form() -> None:
    said = {"timestamp": "2023-11-14T22:13:20Z", "trace_id": "t", "span_id": "s", "tenant": "a", "model": "m"}
    (request,), _ = _read_all({**said, "llm.request.prompt": "Once upon", "llm.response.text": "ANSWER"})
    assert request == Request(id="t-s", time_s=1.7e9, prompt="Once upon", tenant="a", model="m", source="log:1")
    (request,), _ = _read_all({"llm": {"request": {"prompt": "Once upon"}}})
    assert request.prompt == "Once upon"


def test_jaegers_export() -> None:
    tags = [{"key": "gen_ai.input.messages", "type": "string", "value": FORM}]
    span = {"traceID": "t", "spanID": "s", "startTime": 1_700_000_000_500_000, "tags": tags, "processID": "p1"}
    span["references"] = [{"refType": "CHILD_OF", "traceID": "t", "spanID": "up"}]
    process = {"p1": {"serviceName": "x", "tags": [{"key": "tenant.id", "value": "a"}]}}
    (request,), _ = _read_all({"data": [{"traceID": "t", "spans": [span], "processes": process}]})
    assert (request.id, request.time_s, request.parent, request.tenant) == ("t-s", 1_700_000_000.5, "t-up", "a")
    assert request.messages == HI


FORMAT = {"type": "json_object"}
INVOCATION = json.dumps({"model": "m", "top_p": 0.9, "stop": None, "response_format": FORMAT})


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"gen_ai.request.top_p": 0.9, "gen_ai.request.seed": 7}, {"top_p": 0.9, "seed": 7}),
        ({"gen_ai.request.stop_sequences": ["x"], "gen_ai.request.headers": "y"}, {"stop_sequences": ["x"]}),
        ({"ai.settings.topP": 0.9, "ai.settings.maxRetries": 2}, {"top_p": 0.9}),
        ({"llm.invocation_parameters": INVOCATION}, {"top_p": 0.9, "response_format": FORMAT}),
        ({"gen_ai.request.choice.count": "2", "llm.top_k": 5}, {"n": 2, "top_k": 5}),
        ({"gen_ai.request.top_p": "", "llm.seed": None}, None),
    ],
)
def test_parameters(attributes: dict[str, Any], expected: dict[str, Any] | None) -> None:
    assert _read({"gen_ai.input.messages": FORM, **attributes}).sampling == expected


def test_parameters_tools_and_model_of_a_body_in_an_attribute() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    body = {"model": "m", "messages": CHAT, "temperature": 0.5, "max_tokens": 9, "tools": [tool], "seed": 3}
    request = _read({"input.value": json.dumps(body)})
    assert (request.model, request.temperature, request.max_tokens) == ("m", 0.5, 9)
    assert (request.tools, request.sampling) == ([tool], {"seed": 3})


ASSOCIATED = "traceloop.association.properties."


@pytest.mark.parametrize(
    "attributes",
    [
        {f"{ASSOCIATED}tenant_id": "t", f"{ASSOCIATED}chat_id": "c", f"{ASSOCIATED}user_id": "u"},
        {"ai.telemetry.metadata.userId": "t", "ai.telemetry.metadata.sessionId": "c"},
        {"metadata": '{"tenant_id": "t", "thread_id": "c"}'},
        {"metadata": {"tenant_id": "t", "thread_id": "c"}},
        {"langfuse.user.id": "t", "langfuse.session.id": "c"},
        {"user": {"id": "t"}, "session": {"id": "c"}},
    ],
)
def test_owners_and_sessions(attributes: dict[str, Any]) -> None:
    request = _read({"gen_ai.input.messages": FORM, "service.name": "x", **attributes}, parentSpanId="p")
    assert (request.tenant, request.session, request.parent) == ("t", "c", "t-p")


LONG = "word " * 818 + "word w"
CUT_SYSTEM = '[{"type":"text","content":"Syst'
CUT_PARTS = '[{"type":"text","text":"a"},{"type":"te'


@pytest.mark.parametrize(
    ("attributes", "messages"),
    [
        ({"gen_ai.input.messages": FORM[:-4]}, (SYSTEM, CUT_USER)),
        ({"gen_ai.input.messages": FORM[:-20]}, (SYSTEM,)),
        ({"gen_ai.input.messages": FORM[:-4] + "...[truncated]"}, (SYSTEM, CUT_USER)),
        ({"gen_ai.input.messages": json.dumps([*CHAT, {"role": "user", "content": "x [truncated]"}, *CHAT])}, None),
        ({"gen_ai.input.messages": FORM, "gen_ai.system_instructions": CUT_SYSTEM}, (SYSTEM, USER)),
        ({"input.value": '{"messages":' + FORM[:-4]}, (SYSTEM, CUT_USER)),
        ({"input.value": '{"messages":' + FORM + ',"model":"gp'}, (SYSTEM, USER)),
        (_numbered(LONG, "later"), (Message(role="user", content=LONG),)),
        (_numbered(CUT_PARTS, "b"), (Message(role="user", content=[{"type": "text", "text": "a"}]),)),
        (_numbered("a") | _numbered("c", first=2), (Message(role="user", content="a"),)),
    ],
)
def test_a_cut_prompt_is_known_up_to_the_cut(attributes: dict[str, Any], messages: tuple[Message, ...] | None) -> None:
    request = _read(attributes)
    own_system = attributes.get("gen_ai.system_instructions")
    assert request.truncated is (own_system is None)
    assert request.messages == (messages or (*HI, Message(role="user", content="x")))


def test_what_comes_after_cut_instructions_is_not_told() -> None:
    request = _read({"gen_ai.input.messages": json.dumps(CHAT[1:]), "gen_ai.system_instructions": CUT_SYSTEM})
    assert (request.truncated, request.messages) == (True, (Message(role="system", content="Syst"),))


def test_a_cut_completion_prompt_and_cut_events() -> None:
    request = _read({"llm.request.prompt": "Once upon... [truncated]"})
    assert (request.prompt, request.truncated) == ("Once upon", True)
    later = ("gen_ai.user.message", {"content": "later"})
    assert _read({}, ("gen_ai.user.message", {"content": LONG}), later).messages == (
        Message(role="user", content=LONG),
    )
    assert _read({}, ("gen_ai.content.prompt", {"gen_ai.prompt": FORM[:-4]})).truncated


def test_dropped_attributes_and_events_may_have_been_part_of_the_prompt() -> None:
    event = ("gen_ai.user.message", {"content": "Hi"})
    assert _read(_numbered("Hi"), droppedAttributesCount=3).truncated
    assert not _read(_numbered("Hi"), droppedAttributesCount=0, droppedEventsCount=2).truncated
    assert _read({}, event, droppedEventsCount=2).truncated
    assert not _read({}, event).truncated


CUT_TOOLS = "tool definitions that were cut off"


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        (_numbered("Hi", first=1), "a prompt without its beginning"),
        ({"gen_ai.input.messages": '[{"role":"tool","content":"42"}]'}, "a prompt without its beginning"),
        ({"gen_ai.input.messages": FORM, "gen_ai.tool.definitions": '[{"type":"func'}, CUT_TOOLS),
        ({"input.value": '{"messages":' + FORM + ',"tools":[{"type":'}, CUT_TOOLS),
        ({"gen_ai.input.messages": FORM, "ai.operationId": "ai.toolCall"}, "a span that is not a model call"),
        (
            {"input.value": '{"previous_response_id":"r","input":"Hi"}'},
            "a prompt that goes on from one that the provider keeps",
        ),
        ({"gen_ai.prompt": '["a", "b"]'}, "several prompts in one call"),
        ({"input.value": '{"model":"m","messa'}, "a prompt attribute that was cut off"),
    ],
)
def test_prompts_whose_beginning_is_not_known_are_left_out(attributes: dict[str, Any], reason: str) -> None:
    requests, report = _read_all(_span(attributes))
    assert (requests, report.skipped) == ([], {reason: 1})


def test_cut_prompts_are_counted(tmp_path: Path) -> None:
    lengths = (50, 51, len(FORM) - 4, 999)
    spans = [_span({"gen_ai.input.messages": FORM[:length]}, spanId=str(length)) for length in lengths]
    (tmp_path / "log").write_text(json.dumps({"spans": spans}))
    report = ReadReport()
    requests = list(read_requests([str(tmp_path / "log")], report=report))
    assert [request.truncated for request in requests] == [True, True, True, False]
    assert report.truncated == 3


def test_pictures_are_hashed() -> None:
    data = "QUJD" * 100
    picture = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": data}
    told = [{"role": "user", "parts": [{"type": "text", "content": "What?"}, picture]}]
    request = _read({"gen_ai.input.messages": json.dumps(told)})
    content = request.messages[0].content
    assert isinstance(content, list)
    assert content[0] == {"type": "text", "text": "What?"}
    assert content[1]["text"].startswith("[image sha256:")
    assert data not in str(request)


def test_every_answer_of_a_tool_is_a_message() -> None:
    calls = [{"type": "tool_call", "id": ident, "name": "f", "arguments": {}} for ident in "12"]
    answers = [{"type": "tool_call_response", "id": ident, "response": f"a{ident}"} for ident in "12"]
    told = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "parts": calls},
        {"role": "user", "parts": [*answers, {"type": "text", "content": "And?"}]},
    ]
    request = _read({"gen_ai.input.messages": json.dumps(told)})
    assert [len(message.tool_calls or ()) for message in request.messages[:2]] == [0, 2]
    assert request.messages[2:] == (
        Message(role="tool", content="a1", tool_call_id="1"),
        Message(role="tool", content="a2", tool_call_id="2"),
        Message(role="user", content="And?"),
    )


def test_the_ai_sdks_tool_parts() -> None:
    call = {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {"x": 1}}
    output = {"type": "text", "value": "42"}
    result = {"type": "tool-result", "toolCallId": "1", "toolName": "f", "output": output}
    told = [CHAT[1], {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
    function = {"name": "f", "arguments": '{"x":1}'}
    assert _read({"ai.prompt.messages": json.dumps(told)}).messages == (
        USER,
        Message(role="assistant", tool_calls=[{"id": "1", "type": "function", "function": function}]),
        Message(role="tool", content="42", tool_call_id="1"),
    )
