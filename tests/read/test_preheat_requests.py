"""What ``preheat read`` wrote is read back whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.reader_samples import SAMPLES
from preheat.files.lines import write_lines
from preheat.read.reader import read_requests
from preheat.records.request import Message, ReadReport, Request

CHAT = Request(
    id="r1",
    time_s=1_764_547_210.125,
    messages=(
        Message(role="system", content="Be brief. 请简短"),
        Message(role="user", content=[{"type": "text", "text": "Look"}, {"type": "text", "text": "here"}], name="ann"),
        Message(role="assistant", tool_calls=[{"id": "c", "type": "function", "function": {"name": "f"}}]),
        Message(role="tool", content="7", tool_call_id="c"),
    ),
    tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    truncated=True,
    model="m",
    adapter="a",
    tenant="t",
    session="s",
    parent="r0",
    turn=3,
    temperature=0.25,
    sampling={"top_p": 0.5, "stop": ["x"], "response_format": {"type": "json_object"}},
    max_tokens=64,
    input_tokens=100,
    output_tokens=7,
    source="log.jsonl:7[2]#1",
)
KINDS = {
    "chat": CHAT,
    "completion": Request(id="r2", time_s=5.0, prompt="Once upon a time", source="a:b.jsonl:1"),
    "empty completion": Request(id="r3", prompt="", source="stdin:2"),
    "trace": Request(id="r4", time_s=0.0, blocks=(0, 7, 2**53), block_tokens=512, input_tokens=1100, source="t:4"),
    "trace without blocks": Request(id="r5", time_s=0.0, blocks=(), block_tokens=16, turn=0, source="t:5#0"),
    "arrival": Request(id="t.csv:6", time_s=86_400.5, input_tokens=9, output_tokens=0, source="t.csv:6"),
}


def _back(path: Path, requests: list[Request]) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    write_lines(path, map(msgspec.json.encode, requests))
    return list(read_requests([str(path)], report=report)), report


def _apart_from_source(requests: list[Request]) -> list[Request]:
    return [msgspec.structs.replace(request, source="") for request in requests]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_request_comes_back(kind: str, tmp_path: Path) -> None:
    found, report = _back(tmp_path / "out.jsonl", [KINDS[kind]])
    assert _apart_from_source(found) == _apart_from_source([KINDS[kind]])
    assert found[0].source == f"{tmp_path / 'out.jsonl'}:1"
    assert report.formats == {"preheat-requests": 1}


def test_all_kinds_in_one_file(tmp_path: Path) -> None:
    found, report = _back(tmp_path / "out.jsonl.zst", list(KINDS.values()))
    assert _apart_from_source(found) == _apart_from_source(list(KINDS.values()))
    assert not report.skipped


@pytest.mark.parametrize("format", SAMPLES)
def test_what_any_format_gave_comes_back(format: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(SAMPLES[format].write(range(5)))
    first = list(read_requests([str(tmp_path / "log")], format=format, report=ReadReport()))
    again, _ = _back(tmp_path / "out.jsonl", first)
    assert len(first) == 5
    assert _apart_from_source(again) == _apart_from_source(first)


@pytest.mark.parametrize(
    "change",
    [
        {"source": "a-dataset"},
        {"source": None},
        {"timestamp": 7.0},
        {"turn": "3"},
    ],
)
def test_what_only_looks_alike_is_read_as_another_format(change: dict[str, Any], tmp_path: Path) -> None:
    line = {"id": "r", "messages": [{"role": "user", "content": "Hi"}], "source": "x:1", **change}
    (tmp_path / "log.jsonl").write_text(json.dumps(line))
    report = ReadReport()
    (request,) = read_requests([str(tmp_path / "log.jsonl")], report=report)
    assert report.formats == {"openai-jsonl": 1}
    assert request.time_s == change.get("timestamp")


def test_an_added_field_costs_no_time_and_no_session(tmp_path: Path) -> None:
    line = {**json.loads(msgspec.json.encode(CHAT)), "region": "eu"}
    (tmp_path / "log.jsonl").write_text(json.dumps(line))
    (request,) = read_requests([str(tmp_path / "log.jsonl")], report=ReadReport())
    assert (request.time_s, request.session, request.parent) == (CHAT.time_s, "s", "r0")
