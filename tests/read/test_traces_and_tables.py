"""Traces of block ids and of arrivals, and tables: what each column and field becomes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from preheat.errors import BadInput
from preheat.prompts.render import PromptNotRenderable, renderer_for
from preheat.read.reader import read_requests
from preheat.records.rendering import Rendering
from preheat.records.request import Message, ReadReport, Request

HI = (Message(role="user", content="Hi"),)


def _read(path: Path, format: str | None = None) -> tuple[list[Request], ReadReport]:
    report = ReadReport()
    return list(read_requests([str(path)], format=format, report=report)), report


def _table(path: Path, *rows: dict[str, Any], delimiter: str = ",", **style: Any) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, **style)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), newline="")
    return path


def test_mooncake(tmp_path: Path) -> None:
    lines = [
        {"timestamp": 27_482, "input_length": 600, "output_length": 52, "hash_ids": [46, 47]},
        {"timestamp": 30_535, "input_length": 60, "output_length": 1, "hash_ids": [46, 48, 49, 50]},
        {"timestamp": 30_535, "input_length": 60, "output_length": 1, "hash_ids": [46] * 40},
    ]
    (tmp_path / "log").write_text("\n".join(map(json.dumps, lines)))
    requests, report = _read(tmp_path / "log")
    assert [request.time_s for request in requests] == [27.482, 30.535, 30.535]
    assert [request.blocks for request in requests[:2]] == [(46, 47), (46, 48, 49, 50)]
    assert [request.block_tokens for request in requests] == [512, 16, None]
    assert (requests[0].input_tokens, requests[0].output_tokens) == (600, 52)
    assert report.noted == {"block ids that fit no size of block": 1}
    assert report.without_text == 3


def test_bailian(tmp_path: Path) -> None:
    lines = [
        {"chat_id": 7, "parent_chat_id": -1, "timestamp": 1.5, "input_length": 33, "type": "text", "turn": 1},
        {"chat_id": 9, "parent_chat_id": 7, "timestamp": 9.0, "input_length": 40, "type": "text", "turn": 2},
    ]
    (tmp_path / "log").write_text("\n".join(json.dumps({**line, "hash_ids": [1, 2, 3]}) for line in lines))
    requests, report = _read(tmp_path / "log")
    assert report.formats == {"bailian": 2}
    assert [(each.id, each.parent, each.turn) for each in requests] == [("7", None, 0), ("9", "7", 1)]
    assert [(each.time_s, each.block_tokens) for each in requests] == [(1.5, 16), (9.0, 16)]


@pytest.mark.parametrize(
    "line", ['{"hash_ids": ["a"]}', '{"hash_ids": [1.5]}', '{"hash_ids": [1], "timestamp": "soon"}']
)
def test_block_ids_that_are_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "log").write_text(f'{{"timestamp": 1, "input_length": 5, "hash_ids": [1]}}\n{line}\n')
    requests, report = _read(tmp_path / "log")
    assert len(requests) == sum(report.skipped.values()) == 1


@pytest.mark.parametrize("moment", ["2024-05-10 00:00:00.009930+00:00", "2024-05-10 02:00:00.0099300+02:00"])
def test_azure(tmp_path: Path, moment: str) -> None:
    (tmp_path / "log").write_text(f"TIMESTAMP,ContextTokens,GeneratedTokens\n{moment},2162,5\n")
    (request,), report = _read(tmp_path / "log")
    assert report.formats == {"azure-csv": 1}
    assert request.time_s == pytest.approx(datetime(2024, 5, 10, tzinfo=UTC).timestamp() + 0.00993)
    assert (request.input_tokens, request.output_tokens) == (2162, 5)


def test_burstgpt_with_conversations(tmp_path: Path) -> None:
    head = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"
    (tmp_path / "log").write_text(f"{head}\n5,s1,1.5,ChatGPT,472,0,472,Conversation log\n9,,2,GPT-4,10,1,11,API log\n")
    (first, second), report = _read(tmp_path / "log")
    assert report.formats == {"burstgpt-csv": 2}
    assert (first.time_s, first.session, first.model, first.input_tokens, first.output_tokens) == (
        5,
        "s1",
        "ChatGPT",
        472,
        0,
    )
    assert second.session is None


def test_arrivals_are_not_rendered(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,2162,5\n")
    (request,), _ = _read(tmp_path / "log")
    for rendering in (Rendering(), Rendering(name="t", template="{{ messages }}")):
        with pytest.raises(PromptNotRenderable, match="no text: a trace of arrivals"):
            renderer_for(rendering).render(request)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"Prompt": "Hi", "Model": "m"}, {"prompt": "Hi", "model": "m"}),
        ({"system_prompt": "S", "prompt": "Hi"}, {"messages": (Message(role="system", content="S"), *HI)}),
        ({"messages": '[{"role":"user","content":"Hi"}]', "user_id": 7}, {"messages": HI, "tenant": "7"}),
        ({"prompt": '[{"role":"user","content":"Hi"}]', "n": ""}, {"messages": HI, "sampling": None}),
        (
            {"request_body": '{"messages":[{"role":"user","content":"Hi"}],"top_p":0.5,"model":"m"}', "x": 1},
            {"messages": HI, "model": "m", "sampling": {"top_p": 0.5}},
        ),
        (
            {"prompt": "Hi", "created_at": "2023-11-14T22:13:20Z", "Tenant-ID": "t", "prompt tokens": "1,024"},
            {"prompt": "Hi", "time_s": 1.7e9, "tenant": "t", "input_tokens": 1024},
        ),
        (
            {"prompt": "Hi", "temperature": "0.5", "max_tokens": "64.0", "top_p": "0.9", "stop": '["a"]', "turn": "2"},
            {"temperature": 0.5, "max_tokens": 64, "sampling": {"top_p": 0.9, "stop": ["a"]}, "turn": 2},
        ),
        (
            {"prompt": "Hi", "temperature": "warm", "max_tokens": "", "session": ""},
            {"temperature": None, "session": None},
        ),
    ],
)
def test_columns_by_their_names(tmp_path: Path, row: dict[str, Any], said: dict[str, Any]) -> None:
    (request,), report = _read(_table(tmp_path / "log", row))
    assert report.formats == {"csv": 1}
    assert {name: getattr(request, name) for name in said} == said


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_dialects(tmp_path: Path, delimiter: str) -> None:
    rows = [{"id": f"r{number}", "prompt": f'a "b",\n;c\t|{number}\nlast', "tenant": "t"} for number in range(3)]
    requests, report = _read(_table(tmp_path / "log", *rows, delimiter=delimiter))
    assert [request.prompt for request in requests] == [row["prompt"] for row in rows]
    assert [request.source.rpartition(":")[2] for request in requests] == ["2", "5", "8"]
    assert (report.skipped, report.lines) == ({}, 10)


def test_quotes_escaped_by_a_backslash(tmp_path: Path) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": 'say "x"'}]})
    escaped = body.replace("\\", "\\\\").replace('"', '\\"')
    (tmp_path / "log").write_text(f'id,request\n1,"{escaped}"\n2,"{escaped}"\n')
    requests, report = _read(tmp_path / "log")
    assert [request.messages[0].content for request in requests] == ['say "x"'] * 2
    assert report.skipped == {}


def test_a_lone_column_of_prompts(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('prompt\nHi\n"two\nlines"\n')
    assert [request.prompt for request in _read(tmp_path / "log")[0]] == ["Hi", "two\nlines"]
    (tmp_path / "log").write_text("hello\nworld\n")
    with pytest.raises(BadInput, match="of no known format"):
        _read(tmp_path / "log")


def test_a_table_of_something_else_names_its_columns(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"csv: no column with a prompt.* among name, age"):
        _read(_table(tmp_path / "log", {"name": "x", "age": "7"}))


def test_cut_json_in_a_cell_is_counted(tmp_path: Path) -> None:
    good, cut = '[{"role":"user","content":"Hi"}]', '[{"role":"user","conte'
    requests, report = _read(_table(tmp_path / "log", *({"messages": text, "id": "i"} for text in (good, cut, ""))))
    assert len(requests) == 1
    assert report.skipped == {"a messages column whose JSON does not parse (cut off?)": 1, "a row without a prompt": 1}


def _parquet(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return path


def test_parquet_of_plain_columns_and_times(tmp_path: Path) -> None:
    moment = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    rows = [{"prompt": f"p{number}", "timestamp": moment, "org_id": "t", "max_tokens": 5} for number in range(600)]
    requests, report = _read(_parquet(tmp_path / "log.parquet", rows, row_group_size=100))
    assert report.formats == {"parquet": 600}
    assert [request.prompt for request in requests] == [f"p{number}" for number in range(600)]
    assert {(request.time_s, request.tenant, request.max_tokens) for request in requests} == {(1.7e9, "t", 5)}
    assert requests[-1].source == f"{tmp_path / 'log.parquet'}:600"


def test_parquet_with_times_finer_than_microseconds(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    moments = pyarrow.array([1_700_000_000_000_000_001], pyarrow.timestamp("ns"))
    table = pyarrow.table({"prompt": ["x"], "time": moments})
    pyarrow.parquet.write_table(table, tmp_path / "log", version="2.6")
    (request,), _ = _read(tmp_path / "log")
    assert request.time_s == pytest.approx(1.7e9)


@pytest.mark.parametrize(
    ("row", "check"),
    [
        (
            {"conversations": [{"from": "human", "value": "Hi"}], "id": "k"},
            lambda r: (r.messages, r.session) == (HI, "k"),
        ),
        ({"timestamp": 5, "input_length": 6, "output_length": 1, "hash_ids": [1]}, lambda r: r.blocks == (1,)),
        (
            {"messages": [{"role": "user", "content": "Hi"}], "arrived_at": 7.5},
            lambda r: (r.messages, r.time_s) == (HI, 7.5),
        ),
        ({"body": {"prompt": "P", "top_p": 0.5}}, lambda r: (r.prompt, r.sampling) == ("P", {"top_p": 0.5})),
    ],
)
def test_parquet_of_nested_columns(tmp_path: Path, row: dict[str, Any], check: Any) -> None:
    (request,), _ = _read(_parquet(tmp_path / "log", [row]))
    assert check(request)


def test_a_folder_holds_all_kinds_and_one_bad_file_is_passed_over(tmp_path: Path) -> None:
    _parquet(tmp_path / "a.parquet", [{"prompt": "x"}])
    _table(tmp_path / "b.csv", {"prompt": "y", "id": "1"})
    (tmp_path / "c.jsonl").write_text('{"prompt": "z"}\n')
    (tmp_path / "d.csv").write_text("name,age\nx,7\n")
    (tmp_path / "e.tsv").write_text("prompt\tid\nt\t2\n")
    requests, report = _read(tmp_path)
    assert [request.prompt for request in requests] == ["x", "y", "z", "t"]
    assert report.formats == {"parquet": 1, "csv": 2, "openai-jsonl": 1}
    assert report.skipped == {"unknown format": 1}


def test_objects_in_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec, of the extra preheat[objects], is not installed")
    store = fsspec.filesystem("memory")
    store.pipe("/logs/a.jsonl", b'{"prompt": "x"}\n')
    store.pipe("/logs/sub/b.jsonl.gz", gzip.compress(b'{"prompt": "y"}\n'))
    store.pipe("/logs/readme.md", b"no log")
    store.pipe("/logs/.hidden.jsonl", b"no log")
    store.pipe("/logs/c.parquet", _parquet(tmp_path / "c", [{"prompt": "z"}]).read_bytes())
    found = {name: [r.prompt for r in _read_url(f"memory://logs{name}")] for name in ("", "/*.jsonl", "/a.jsonl")}
    assert found == {"": ["x", "z", "y"], "/*.jsonl": ["x"], "/a.jsonl": ["x"]}
    for missing in ("memory://logs/none.jsonl", "memory://logs/*.csv"):
        with pytest.raises(BadInput, match="nothing matches memory://logs"):
            _read_url(missing)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(BadInput, match="needs fsspec") as caught:
        _read_url("s3://user:secret@bucket/log.jsonl?sig=secret")
    assert "preheat[objects]" in caught.value.remedy
    assert "secret" not in str(caught.value)


def _read_url(url: str) -> list[Request]:
    return list(read_requests([url], report=ReadReport()))
