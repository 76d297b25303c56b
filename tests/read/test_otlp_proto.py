"""OTLP in Protocol Buffers: the same requests as from its JSON, whatever the file's layout, and nothing from damage."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from contracts.otlp_bytes import any_value, attributes, export, field, log_record, span, varint
from preheat.errors import BadInput
from preheat.read import otlp_framing
from preheat.read.otlp_framing import OTLP_MESSAGES
from preheat.read.otlp_json import OTLPJson
from preheat.read.otlp_proto import DAMAGED_SPAN, OTLPProto
from preheat.read.otlp_wire import export_of
from preheat.read.protobuf import Damaged, fields_of
from preheat.read.reader import read_requests
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

START = 1_700_000_000_500_000_000
CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi 请"}]
HI = (Message(role="system", content="S"), Message(role="user", content="Hi 请"))
SAID = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": json.dumps(CHAT),
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.max_tokens": 9,
    "gen_ai.request.stop_sequences": ["x", "y"],
    "negative": -5,
    "nested": {"a": [1, {"b": True}]},
}
FOUR, VARINT = (lambda data: len(data).to_bytes(4, "big") + data), (lambda data: varint(len(data)) + data)
LAYOUTS: dict[str, Any] = {
    "four bytes": lambda messages: b"".join(map(FOUR, messages)),
    "varint": lambda messages: b"".join(map(VARINT, messages)),
    "zstd": lambda messages: b"".join(FOUR(zstandard.compress(message)) for message in messages),
    "one": b"".join,
}


def _messages() -> list[bytes]:
    first = export(span("a", SAID, start=START), span("b", {"http.method": "GET"}), resource={"tenant.id": "t"})
    events = [("gen_ai.user.message", {"content": "Hi 请"}), ("gen_ai.choice", {"message": "ANSWER"})]
    return [first, export(span("c", {"gen_ai.request.model": "m"}, events, start=START + 10**9, lost=3))]


def _read(path: Path, data: bytes, format: str | None = None) -> tuple[list[Request], ReadReport]:
    path.write_bytes(data)
    report = ReadReport()
    return list(read_requests([str(path)], format=format, report=report)), report


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_told_and_gives_the_same(tmp_path: Path, layout: str) -> None:
    data = LAYOUTS[layout](_messages())
    (first, second), report = _read(tmp_path / "log", data)
    assert first == Request(
        id=f"{'74' * 16}-{b'0000000a'.hex()}",
        time_s=1_700_000_000.5,
        messages=HI,
        model="m",
        tenant="t",
        temperature=0.5,
        max_tokens=9,
        sampling={"stop_sequences": ["x", "y"]},
        source=f"{tmp_path / 'log'}:1#0",
    )
    assert (second.messages, second.truncated) == (HI[1:], True)
    assert (report.formats, report.bytes) == ({"otlp-proto": 2}, len(data))
    assert report.skipped == {"a span without a prompt": 1}


@pytest.mark.parametrize("layout", ["four bytes", "varint", "zstd"])
def test_messages_are_counted_and_the_one_that_is_cut_is_left_out(tmp_path: Path, layout: str) -> None:
    data = LAYOUTS[layout](_messages())
    requests, report = _read(tmp_path / "log", data[:-5])
    assert len(requests) == 1
    assert report.lines == 2
    assert report.quarantine[-1] == (f"{tmp_path / 'log'}:2", "a message that is cut")


def test_the_collectors_compressed_json(tmp_path: Path) -> None:
    attribute = {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(CHAT)}}
    spans = [{"traceId": "t", "spanId": "s", "attributes": [attribute]}]
    record = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    (expected,) = OTLPJson().requests(record, f"{tmp_path / 'log'}:1", ReadReport())
    for packed in (record, zstandard.compress(record)):
        requests, report = _read(tmp_path / "log", FOUR(packed))
        assert (requests, report.formats) == ([expected], {"otlp-proto": 1})


def test_logs(tmp_path: Path) -> None:
    records = [
        log_record("gen_ai.system.message", {"content": "S"}, "a", START),
        log_record("gen_ai.user.message", {"content": "Hi 请"}, "a", START),
        log_record("gen_ai.user.message", "Other", "b", START),
        log_record("gen_ai.choice", {"message": {"content": "ANSWER"}}, "a", START),
    ]
    (first, second), _ = _read(tmp_path / "log", FOUR(export(*records, resource={"tenant.id": "t"})))
    assert (first.messages, first.time_s, first.tenant) == (HI, 1_700_000_000.5, "t")
    assert second.messages == (Message(role="user", content="Other"),)


_plain = st.recursive(
    st.text(max_size=9) | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(min_size=1, max_size=9), _plain, max_size=4))
def test_attributes_come_back_as_they_were(said: dict[str, Any]) -> None:
    found = export_of(export(span("a", said)), lambda: None)
    assert found["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] == said


@given(st.binary(max_size=200) | st.integers(0, 2**32).map(lambda seed: _mutated(seed)))
def test_any_bytes_give_requests_or_a_reason(data: bytes) -> None:
    OTLP_MESSAGES.opens(data)
    OTLPProto().refusal(data)
    try:
        for request in OTLPProto().requests(data, "log:1", ReadReport()):
            assert msgspec.json.encode(request)
    except Unreadable as why:
        assert why.message  # noqa: PT017


def _mutated(seed: int) -> bytes:
    chance, data = random.Random(seed), bytearray(_messages()[0])
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data))
        if chance.random() < 0.5:
            data[at] = chance.randrange(256)
        else:
            del data[at : at + chance.randrange(1, 9)]
    return bytes(data)


def test_a_damaged_span_costs_that_span(tmp_path: Path) -> None:
    good = span("a", SAID, start=START)
    broken = good[:18] + b"\xff" * 12
    requests, report = _read(tmp_path / "log", FOUR(export(good, broken, span("b", SAID, start=START))))
    assert len(requests) == 2
    assert report.skipped == {DAMAGED_SPAN: 1}


def test_a_character_that_a_limit_cut_marks_the_text_as_cut(tmp_path: Path) -> None:
    said = {"llm.request.prompt": "Once upon 请".encode()[:-1]}
    (request,), _ = _read(tmp_path / "log", FOUR(export(span("a", said))))
    assert (request.prompt, request.truncated) == ("Once upon", True)


def test_values_nested_without_end_are_refused() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    with pytest.raises(Damaged, match="nested too deeply"):
        export_of(export(resource={"x": deep}), lambda: None)


def test_messages_out_of_bounds_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_framing, "MESSAGE_LIMIT_BYTES", 20_000)
    monkeypatch.setattr(otlp_framing, "_SKIPPED_BYTES", 1000)
    good = _messages()[0]
    large = export(span("x", {"a": "y" * 30_000}))
    bomb = zstandard.compress(b"\0" * 10_000_000)
    messages = (good, large, bomb, b"", zstandard.compress(good)[:-9], good)
    requests, report = _read(tmp_path / "log", b"".join(map(FOUR, messages)))
    assert len(requests) == 1
    assert report.lines == 6
    assert report.skipped == {
        "a span without a prompt": 2,
        "message over 0 MiB": 2,
        "a message whose compression is damaged": 1,
        "a span that was exported before": 1,
    }


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        b'{\n  "resourceSpans": [\n  ]\n}\n',
        b"{\n\n\n\n\n\n\n\n\n\n\n\n}",
        b'\n{"messages": []}\n' * 50,
        b"a,b\n1,2\n",
        b"\0" * 500,
        b"\x00\x00\x00\x05hello",
        b"PAR1",
        FOUR(field(1, attributes(1, {"a": 1}))),
        FOUR(any_value("x" * 300)),
    ],
)
def test_other_files_are_not_taken_for_messages(text: bytes) -> None:
    assert not OTLP_MESSAGES.opens(text)


def test_a_file_without_a_request_says_why(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no requests in .*: skipped 1 x a span without a prompt"):
        _read(tmp_path / "log", FOUR(export(span("a", {}))))


def test_fields() -> None:
    message = field(1, b"ab") + field(2, 300) + field(3, 1.5) + varint(4 << 3 | 5) + b"\1\0\0\0"
    assert [(each.number, each.value) for each in fields_of(message)][::3] == [(1, b"ab"), (4, 1)]
    for bad in (message[:3], message[:-1], b"\x00\x00", b"\x0b", b"\x80" * 11, field(1, b"ab")[:-1]):
        with pytest.raises(Damaged):
            list(fields_of(bad))
    assert [each.value for each in fields_of(field(1, b"ab")[:-1], torn=True)] == [b"a"]
