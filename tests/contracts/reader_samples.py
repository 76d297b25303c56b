"""A sample of every log format: how to write it, and what must come back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from contracts import otlp_bytes
from preheat.records.request import Request

START_S = 1_700_000_000.0
Numbers = Iterable[int]


@dataclass(frozen=True)
class Sample:
    """``write`` gives the file for these numbers; ``number`` reads one's number back from its request.

    ``said``: the fields that the sample says; ``time_s`` of the first; ``first``: the line of the first record.
    ``record``: one as a JSON object, where the format has those.
    """

    write: Callable[[Numbers], bytes]
    number: Callable[[Request], int]
    said: frozenset[str]
    time_s: float | None = START_S
    first: int = 1
    record: Callable[[int], dict[str, Any]] | None = None


def asked(number: int) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Be brief. 请简短"}, {"role": "user", "content": f"Question {number}"}]


def _openai(number: int) -> dict[str, Any]:
    return {"request_id": f"r{number}", "timestamp": START_S + number, "messages": asked(number)}


def _written(number: int) -> dict[str, Any]:
    return {"id": f"r{number}", "time_s": START_S + number, "messages": asked(number), "source": f"log:{number}"}


def _anthropic(number: int) -> dict[str, Any]:
    system, user = asked(number)
    user_blocks = [{"type": "text", "text": user["content"], "cache_control": {"type": "ephemeral"}}]
    body = {"system": [{"type": "text", "text": system["content"]}], "messages": [{**user, "content": user_blocks}]}
    return {"request_id": f"r{number}", "timestamp": START_S + number, "body": body}


def _litellm(number: int) -> dict[str, Any]:
    times = {"startTime": START_S + number, "endTime": START_S + number + 1}
    return {"id": f"r{number}", "call_type": "acompletion", "status": "success", "messages": asked(number), **times}


def _sharegpt(number: int) -> dict[str, Any]:
    system, user = (message["content"] for message in asked(number))
    said = [("system", system), ("human", user), ("gpt", "ANSWER")]
    return {"id": f"c{number}", "conversations": [{"from": who, "value": what} for who, what in said]}


def _otlp(number: int) -> dict[str, Any]:
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(asked(number))}},
        {"key": "gen_ai.output.messages", "value": {"stringValue": '[{"role":"assistant","content":"ANSWER"}]'}},
    ]
    start = str(int(START_S + number) * 10**9)
    span = {"traceId": "t", "spanId": f"r{number}", "startTimeUnixNano": start, "attributes": attributes}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": [span]}]}]}


def _api_call(number: int) -> dict[str, Any]:
    called = {"method": "POST", "uri": "http://engine:8000/v1/chat/completions", "status": 200}
    return {"id": f"r{number}", "timestamp": START_S + number, **called, "request": {"messages": asked(number)}}


def _langfuse(number: int) -> dict[str, Any]:
    observation = {"id": f"r{number}", "traceId": "t", "type": "GENERATION", "startTime": _iso(number)}
    return {"trace": {"id": "t"}, "observations": [{**observation, "input": json.dumps(asked(number)), "output": "A"}]}


def _iso(number: int) -> str:
    return datetime.fromtimestamp(START_S + number, UTC).isoformat()


def _otlp_proto(numbers: Numbers) -> bytes:
    messages = [
        otlp_bytes.export(
            otlp_bytes.span(
                f"r{number}",
                {"gen_ai.input.messages": json.dumps(asked(number)), "gen_ai.output.messages": '["ANSWER"]'},
                start=int(START_S + number) * 10**9,
            )
        )
        for number in numbers
    ]
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def _mooncake(number: int) -> dict[str, Any]:
    return {"timestamp": number * 1000, "input_length": 700, "output_length": 5, "hash_ids": [0, number + 10]}


def _bailian(number: int) -> dict[str, Any]:
    traced = {"chat_id": number, "parent_chat_id": -1, "timestamp": float(number), "type": "text", "turn": 1}
    return {**traced, "input_length": 30, "output_length": 5, "hash_ids": [0, number + 10]}


def _json(record: Callable[[int], dict[str, Any]], said: str, number: Callable[[Request], int], **more: Any) -> Sample:
    def write(numbers: Numbers) -> bytes:
        return b"".join(json.dumps(record(each)).encode() + b"\n" for each in numbers)

    return Sample(write, number, frozenset(said.split()), record=record, **more)


def _csv(head: list[str], row: Callable[[int], list[Any]], said: str, number: Callable[[Request], int]) -> Sample:
    def write(numbers: Numbers) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([head, *map(row, numbers)])
        return text.getvalue().encode()

    return Sample(write, number, frozenset(said.split()), first=2)


def _parquet(numbers: Numbers) -> bytes:
    import pyarrow
    import pyarrow.parquet

    rows = [
        {"id": f"r{each}", "created_at": START_S + each, "messages": asked(each), "response": "ANSWER"}
        for each in numbers
    ]
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue()


def _from_text(request: Request) -> int:
    return int(str(request.messages[1].content).removeprefix("Question "))


def _from_parts(request: Request) -> int:
    (part,) = request.messages[1].content or [{}]
    return int(part["text"].removeprefix("Question "))


def _from_blocks(request: Request) -> int:
    assert request.blocks is not None
    return request.blocks[1] - 10


def _from_length(request: Request) -> int:
    return (request.input_tokens or 0) - 100


_CHAT = "id time_s messages source"
_BLOCKS = "id time_s blocks block_tokens input_tokens output_tokens source"
_LENGTHS = "id time_s input_tokens output_tokens source"

SAMPLES: dict[str, Sample] = {
    "preheat-requests": _json(_written, _CHAT, _from_text),
    "openai-jsonl": _json(_openai, _CHAT, _from_text),
    "anthropic-messages": _json(_anthropic, _CHAT, _from_parts),
    "litellm": _json(_litellm, _CHAT, _from_text),
    "sharegpt": _json(_sharegpt, "id messages session turn source", _from_text, time_s=None),
    "otlp-json": _json(_otlp, _CHAT, _from_text),
    "api-calls": _json(_api_call, _CHAT, _from_text),
    "langfuse": _json(_langfuse, _CHAT, _from_text),
    "otlp-proto": Sample(_otlp_proto, _from_text, frozenset(_CHAT.split())),
    "mooncake": _json(_mooncake, _BLOCKS, _from_blocks, time_s=0.0),
    "bailian": _json(_bailian, _BLOCKS + " turn", _from_blocks, time_s=0.0),
    "csv": _csv(
        ["Time", "Messages", "Answer"],
        lambda number: [START_S + number, json.dumps(asked(number), indent=0, ensure_ascii=False), "ANSWER"],
        _CHAT,
        _from_text,
    ),
    "langfuse-csv": _csv(
        ["id", "traceId", "type", "startTime", "input", "output", "metadata"],
        lambda number: [f"r{number}", "t", "GENERATION", _iso(number), json.dumps(asked(number)), "ANSWER", ""],
        _CHAT,
        _from_text,
    ),
    "azure-csv": _csv(
        ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
        lambda number: [f"2023-11-14 22:13:{20 + number}.0000000", 100 + number, 7],
        _LENGTHS,
        _from_length,
    ),
    "burstgpt-csv": _csv(
        ["Timestamp", "Model", "Request tokens", "Response tokens", "Total tokens", "Log Type"],
        lambda number: [START_S + number, "GPT-4", 100 + number, 7, 107 + number, "API log"],
        _LENGTHS + " model",
        _from_length,
    ),
    "parquet": Sample(_parquet, _from_text, frozenset(_CHAT.split())),
}
NO_REQUESTS: dict[str, bytes] = {
    "servegen-rates": b"client,timestamp,rate,cv,pattern,param1,param2\n0,0,1.5,1,Gamma,1,2\n0,600,0,0,,0,0\n",
    "servegen-lengths": b'{"client": 0, "window": "0", "input_tokens": "{45: 1.0}", "output_tokens": "{1: 1.0}"}\n' * 2,
}
"""Formats that are recognised and hold no request: two records of each."""
