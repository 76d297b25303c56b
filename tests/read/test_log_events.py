"""Prompts that are in log records (OTLP logs) and not on spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preheat.read.otlp_json import OTLPJson
from preheat.records.request import Message, ReadReport, Request

HI = (Message(role="system", content="S"), Message(role="user", content="Hi"))
CHAT = '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]'


def _text(value: str) -> dict[str, str]:
    return {"stringValue": value}


def _attributes(plain: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _text(value)} for name, value in plain.items()]


def _event(name: str, body: Any, span: str = "s", named_in: str = "attributes", **attributes: str) -> dict[str, Any]:
    told = {"eventName": name} if named_in == "eventName" else {}
    said = attributes | ({"event.name": name} if named_in == "attributes" else {})
    return {"timeUnixNano": "1700000000500000000", "traceId": "t", "spanId": span, "body": body, **told} | {
        "attributes": _attributes(said)
    }


def _body(**fields: str) -> dict[str, Any]:
    return {"kvlistValue": {"values": _attributes(fields)}}


def _read(*records: dict[str, Any]) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    resource = {"attributes": _attributes({"tenant.id": "a"})}
    export = {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": list(records)}]}]}
    return list(OTLPJson().requests(json.dumps(export).encode(), "log:1", report)), report


@pytest.mark.parametrize("named_in", ["attributes", "eventName"])
def test_the_events_of_one_span_are_one_request(named_in: str) -> None:
    answer = _body(message="ANSWER")
    (first, second), report = _read(
        _event("gen_ai.system.message", _body(content="S"), named_in=named_in),
        _event("gen_ai.user.message", _text("Other"), span="s2", named_in=named_in),
        _event("gen_ai.user.message", _body(content="Hi", role="user"), named_in=named_in),
        _event("gen_ai.choice", answer, named_in=named_in),
        _event("http.request", _text("GET /"), named_in=named_in),
    )
    assert (first.id, first.messages, first.tenant, first.time_s) == ("t-s", HI, "a", 1_700_000_000.5)
    assert (second.id, second.messages) == ("t-s2", (Message(role="user", content="Other"),))
    assert report.skipped == {}


def test_the_details_event() -> None:
    details = {"gen_ai.input.messages": CHAT, "gen_ai.system_instructions": '[{"type":"text","content":"S"}]'}
    more = {"gen_ai.request.model": "m", "gen_ai.operation.name": "chat", "gen_ai.output.messages": CHAT}
    (request,), _ = _read(_event("gen_ai.client.inference.operation.details", _text(""), **details, **more))
    assert (request.messages, request.model) == (HI, "m")
    (request,), _ = _read(_event("gen_ai.client.inference.operation.details", _body(**details), **more))
    assert (request.messages, request.model) == (HI, "m")


def test_details_without_a_span_stand_for_themselves() -> None:
    event = _event("gen_ai.client.inference.operation.details", _body(**{"gen_ai.input.messages": CHAT}), span="")
    requests, _ = _read(event, event)
    assert [request.id for request in requests] == ["log:1#0", "log:1#1"]


def test_other_logs_are_no_requests() -> None:
    assert _read(_event("x", _text("listening"))) == ([], ReadReport())
