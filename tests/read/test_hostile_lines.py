"""One line that nobody would write by mistake: it is left out with its place, and the lines around it are read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from preheat.read import reader
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.reader import read_requests
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.unreadable import UNEXPECTED_SHAPE
from preheat.records.request import Message, ReadReport, Request

MANY = 10**400
DIGITS = "9" * 5000
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "x"}]}
FLAT: dict[str, Any] = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "x"}
LISTS = "[" * 100_000 + "]" * 100_000
OBJECTS = '{"a":' * 100_000 + "1" + "}" * 100_000


def _span(attributes: dict[str, Any] | list[Any], **fields: Any) -> str:
    return json.dumps({"spans": [{"attributes": attributes, **fields}]})


def _otlp(key: str, value: dict[str, Any]) -> str:
    flat = [{"key": name, "value": {"stringValue": text}} for name, text in FLAT.items()]
    return _span([*flat, {"key": key, "value": value}])


def _read(path: Path, lines: Iterable[str], format: str | None = None) -> tuple[list[Request], ReadReport]:
    path.write_text("\n".join(lines))
    report = ReadReport()
    return list(read_requests([str(path)], format=format, report=report)), report


SKIPPED = {
    "lists": LISTS,
    "objects": OBJECTS,
    "lists that stay open": "[" * 100_000,
    "objects that stay open": '{"a":' * 100_000,
    "a list with one deep element": f'[{{"messages": {LISTS}}}]',
    "a deep body": f'{{"body": {OBJECTS}}}',
    "a deep body as text": json.dumps({"body": OBJECTS}),
    "deep messages": f'{{"messages": {LISTS}}}',
    "a message's number": _span({**FLAT, f"gen_ai.prompt.{DIGITS}.content": "x"}),
    "a deep attribute": _span({**FLAT, "gen_ai.prompt.0.tool_calls.0." + ".".join("a" * 5000): "x"}),
    "a tool call that is text": _span(
        {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.tool_calls.0.tool_call": "x"}
    ),
}


@pytest.mark.parametrize("bad", SKIPPED)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_bad_line_is_left_out_and_the_others_are_read(tmp_path: Path, bad: str, place: int) -> None:
    lines = [_span(FLAT)] * 2 if "spans" in SKIPPED[bad] else [json.dumps(CHAT)] * 2
    lines.insert(place, SKIPPED[bad])
    requests, report = _read(tmp_path / "log", lines)
    assert len(requests) == report.requests == 2
    assert sum(report.skipped.values()) == 1
    ((where, _),) = report.quarantine
    assert where.startswith(f"{tmp_path / 'log'}:{place + 1}")


READ = {
    "a time of 400 digits": json.dumps({**CHAT, "timestamp": MANY}),
    "a time of 400 digits as text": json.dumps({**CHAT, "timestamp": str(MANY)}),
    "a time of 400 digits beside an odd field": json.dumps({**CHAT, "timestamp": MANY, "system": ["s"]}),
    "a temperature of 400 digits": json.dumps({**CHAT, "temperature": MANY}),
    "limits of 400 digits": json.dumps({**CHAT, "max_tokens": MANY, "usage": {"prompt_tokens": MANY}}),
    "a limit of 1e300": json.dumps({**CHAT, "max_tokens": 1e300}),
    "numbers of 400 digits in a span": _span(
        {**FLAT, "gen_ai.request.max_tokens": MANY, "gen_ai.request.temperature": MANY}
    ),
    "a start of 400 digits": _span(FLAT, startTime=[MANY, 1]),
    "a start with a fraction of 400 digits": _span(FLAT, startTime=[1, MANY]),
    "a start that is no number": _span(FLAT, startTime=["x", None]),
    "two minus signs": _otlp("x", {"intValue": "--9"}),
    "a whole number of 5000 digits": _otlp("gen_ai.request.max_tokens", {"intValue": DIGITS}),
    "a whole number that is none": _otlp("gen_ai.request.max_tokens", {"intValue": "²"}),
}


@pytest.mark.parametrize("odd", READ)
def test_a_number_out_of_bounds_counts_as_not_said(tmp_path: Path, odd: str) -> None:
    (request,), _ = _read(tmp_path / "log", [READ[odd]])
    assert request.messages[-1].content == "x" or request.prompt == "x"
    said = (request.time_s, request.temperature, request.max_tokens, request.input_tokens)
    assert said == (None, None, None, None)


def test_the_numbers_that_are_in_bounds_are_kept(tmp_path: Path) -> None:
    attributes = {"key": "gen_ai.request.max_tokens", "value": {"intValue": "-9"}}
    (request,), _ = _read(tmp_path / "log", [_span([attributes, {"key": "input", "value": {"stringValue": "x"}}])])
    assert request.max_tokens == -9
    (request,), _ = _read(tmp_path / "log", [_span(FLAT, startTime=[1_700_000_000, 500_000_000])])
    assert request.time_s == 1_700_000_000.5


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ({"type": "text", "content": None}, "ab"),
        ({"type": "text"}, "ab"),
        ({"type": "text", "content": 5}, "a5b"),
        ({"type": "text", "content": {"k": [1]}}, 'a{"k":[1]}b'),
    ],
)
def test_a_text_part_without_text_is_empty_text(tmp_path: Path, part: dict[str, Any], content: str) -> None:
    around = [{"type": "text", "content": text} for text in "ab"]
    messages = [{"role": "user", "parts": [around[0], part, around[1]]}]
    (request,), _ = _read(tmp_path / "log", [_span({"gen_ai.input.messages": messages})])
    assert request.messages == (Message(role="user", content=content),)


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError])
def test_whatever_a_reader_raises_costs_one_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    class Fragile:
        name = "fragile"
        framing = JSON_RECORDS

        def refusal(self, record: bytes) -> str | None:
            if record == b"{}":
                raise error
            return None

        def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
            if record != b"1":
                raise error
            return (Request(id=where, prompt="x"),)

    monkeypatch.setattr(reader, "FORMATS", {"fragile": Fragile()})
    requests, report = _read(tmp_path / "log", ["{}", "1", "2", "1"])
    assert len(requests) == 2
    assert report.skipped == {UNEXPECTED_SHAPE: 2}
    assert [where.rpartition(":")[2] for where, _ in report.quarantine] == ["1", "3"]


def test_one_bad_span_costs_that_span(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from preheat.read import otlp_json

    tools = otlp_json.gen_ai.tools

    def fragile(span: Any) -> Any:
        if "bad" in span.attributes:
            raise IndexError
        return tools(span)

    monkeypatch.setattr(otlp_json.gen_ai, "tools", fragile)
    spans = [{"attributes": FLAT}, {"attributes": {**FLAT, "bad": 1}}, {"attributes": FLAT}]
    requests, report = _read(tmp_path / "log", [json.dumps({"spans": spans})])
    assert len(requests) == 2
    assert report.quarantine == [(f"{tmp_path / 'log'}:1#1", UNEXPECTED_SHAPE)]


def test_scalars() -> None:
    assert [as_number(value) for value in (1, 1.5, True, "1", None, MANY, float("nan"))] == [1, 1.5, *[None] * 5]
    assert [as_whole(value) for value in (None, 3.0, 2.5, 1e300)] == [None, 3, None, None]
    assert [as_name(value) for value in ("a", "", 7, True, 10**5000, [])] == ["a", None, "7", None, None, None]
