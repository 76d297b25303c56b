"""One call that is in a log twice: read once, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.read import oddities, repeats
from preheat.read.nested_calls import Seen, around_others
from preheat.read.reader import read_requests
from preheat.read.repeats import AGAIN, SEEN_TWICE, Repeats
from preheat.records.request import Message, ReadReport, Request


def _span(ident: str, text: str = "Hi", **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"traceId": "t", "spanId": ident, "attributes": {"gen_ai.input.messages": json.dumps(messages)}, **fields}


def _read(paths: list[Path]) -> tuple[list[str], ReadReport]:
    report = ReadReport()
    return [request.id for request in read_requests([str(path) for path in paths], report=report)], report


def test_a_span_that_was_exported_twice_also_in_another_file(tmp_path: Path) -> None:
    lines = [json.dumps({"spans": [_span("a"), _span("b")]}), json.dumps(_span("a")), json.dumps(_span("c"))]
    (tmp_path / "1.jsonl").write_text("\n".join(lines))
    (tmp_path / "2.jsonl").write_text("\n".join(lines[1:]))
    ids, report = _read([tmp_path / "1.jsonl", tmp_path / "2.jsonl"])
    assert ids == ["t-a", "t-b", "t-c"]
    assert report.skipped == {AGAIN: 3}
    assert report.requests == 3
    assert _read([tmp_path / "2.jsonl"])[0] == ["t-a", "t-c"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_call_that_two_exports_show_as_parent_and_child(tmp_path: Path, turned: bool) -> None:
    outer = _span("outer")
    inner = _span("inner", parentSpanId="outer")
    parts = [{"type": "text", "text": "Hi"}]
    inner["attributes"] = {"ai.prompt.messages": json.dumps([{"role": "user", "content": parts}])}
    step = _span("step", "Hi, and more", parentSpanId="outer")
    records = [inner, outer, step] if turned else [outer, inner, step]
    (tmp_path / "log").write_text("\n".join(map(json.dumps, records)))
    ids, report = _read([tmp_path / "log"])
    assert ids == ["t-inner" if turned else "t-outer", "t-step"]
    assert report.skipped == {SEEN_TWICE: 1}


def test_requests_that_only_ask_the_same_are_all_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("\n".join(json.dumps(_span(ident)) for ident in "abc"))
    assert _read([tmp_path / "log"])[0] == ["t-a", "t-b", "t-c"]
    chat = json.dumps({"request_id": "same", "messages": [{"role": "user", "content": "Hi"}]})
    (tmp_path / "chat").write_text("\n".join([chat] * 3))
    assert len(_read([tmp_path / "chat"])[0]) == 3


def test_memory_is_bounded_and_the_latest_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "_IDS", 10)
    known = Repeats()
    requests = [Request(id=str(number), messages=(Message(role="user"),)) for number in range(100)]
    for number, request in enumerate(requests):
        assert known.reason(request) is None
        assert known.reason(requests[max(0, number - 9)]) == AGAIN
    assert known.reason(requests[0]) is None


def _seen(ident: str, parent: str | None, start: float | None, end: float | None, trace: str = "t") -> Seen:
    return Seen(trace, ident, parent, start, end)


@pytest.mark.parametrize(
    ("calls", "outer"),
    [
        ([_seen("a", None, 0, 10), _seen("b", "a", 1, 9)], {0}),
        ([_seen("b", "a", 1, 9), _seen("a", None, 0, 10)], {1}),
        ([_seen("a", None, 0, 10), _seen("b", "a", 1, 4), _seen("c", "a", 5, 9)], {0}),
        ([_seen("a", None, 0, 10), _seen("b", "a", 1, 9), _seen("c", "b", 2, 8)], {0, 1}),
        ([_seen("a", None, 0, 10), _seen("b", "a", 11, 19)], set()),
        ([_seen("a", None, None, None), _seen("b", "a", None, None)], {0}),
        ([_seen("a", None, 0, 10), _seen("b", "a", 1, 9, trace="u")], set()),
        ([_seen("a", None, 0, 10), None, _seen("b", "x", 1, 9)], set()),
        ([_seen("a", "a", 0, 10)], set()),
    ],
)
def test_which_calls_are_around_others(calls: list[Seen | None], outer: set[int]) -> None:
    assert around_others(calls) == outer


def test_a_large_export_is_not_hashed_for_each_of_its_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[object] = []
    monkeypatch.setattr(oddities, "xxh3_64_intdigest", lambda record: hashed.append(record) or 0)
    (tmp_path / "log").write_text(json.dumps({"spans": [_span(str(number)) for number in range(9)]}))
    assert len(_read([tmp_path / "log"])[0]) == 9
    assert hashed == []
