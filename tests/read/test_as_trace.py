"""A log as a trace: what others can find in it, and what they cannot."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.errors import BadInput
from preheat.prompts.render import renderer_for
from preheat.read.accesses import asked_blocks
from preheat.read.as_trace import TraceReport, trace_lines
from preheat.read.reader import JSON_FORMATS
from preheat.records.rendering import Rendering
from preheat.records.request import Message, ReadReport, Request

RENDERER = renderer_for(Rendering())
forms = pytest.mark.parametrize("form", ["mooncake", "bailian"])


def traced(requests: list[Request], form: str, **more: Any) -> tuple[TraceReport, list[dict[str, Any]]]:
    report, records = trace_lines(requests, RENDERER, form, **more)
    return report, list(records)


def read_again(records: list[dict[str, Any]], form: str) -> list[Request]:
    encode = msgspec.json.encode
    reader = JSON_FORMATS[form]
    return [
        request
        for number, record in enumerate(records)
        for request in reader.requests(encode(record), f"trace:{number}", ReadReport())
    ]


def log_of(prompts: list[str], **more: Any) -> list[Request]:
    return [Request(id=f"r{n}", time_s=100.0 + n, prompt=prompt, **more) for n, prompt in enumerate(prompts)]


def conversations() -> list[Request]:
    chooser = random.Random(2)
    talks: dict[str, tuple[Message, ...]] = {}
    requests = []
    for number in range(120):
        session = f"s{chooser.randrange(9)}"
        talk = talks.get(session, (Message(role="system", content="Rules. " * 60),))
        talk = (*talk, Message(role="user", content=f"{chooser.random()} " * 8))
        talks[session] = (*talk, Message(role="assistant", content=f"{chooser.random()} " * 15))
        tenant = f"acme-{number % 3}"
        requests.append(
            Request(id=f"q{number}", time_s=50.0 + 2 * number, messages=talk, session=session, tenant=tenant)
        )
    return requests


@forms
@pytest.mark.parametrize("block_tokens", [None, 16, 64])
def test_the_trace_has_the_hit_rate_of_the_log(form: str, block_tokens: int | None) -> None:
    report, records = traced(conversations(), form, block_tokens=block_tokens)
    assert report.block_chars == 4 * report.block_tokens
    ours = asked_blocks(conversations(), RENDERER, report.block_chars, partial=True).accesses
    theirs = asked_blocks(read_again(records, form), RENDERER).accesses
    assert theirs.units == report.block_tokens
    assert theirs.ids.tolist() == ours.ids.tolist()
    assert theirs.starts.tolist() == ours.starts.tolist()
    assert report.hit_rate == pytest.approx(1 - ours.distinct / ours.blocks)
    assert theirs.times_s.tolist() == [time_s - 50.0 for time_s in ours.times_s.tolist()]


@forms
def test_nothing_of_the_log_can_be_read_from_it(form: str) -> None:
    _, records = traced(conversations(), form)
    written = msgspec.json.encode(records).decode()
    assert not any(word in written for word in ("acme", "Rules", '"q1', '"s1', "user"))
    seen: list[int] = []
    for record in records:
        seen += [block for block in record["hash_ids"] if block not in seen]
    assert seen == list(range(len(seen)))


def test_a_salt_joins_files_and_another_one_does_not() -> None:
    _, one = traced(conversations(), "mooncake", salt=b"0123456789abcdef")
    _, same = traced(conversations()[:1], "mooncake", salt=b"0123456789abcdef")
    _, other = traced(conversations(), "mooncake", salt=b"another salt of 1")
    assert one[0]["hash_ids"] == same[0]["hash_ids"]
    assert not {each for record in one for each in record["hash_ids"]} & {
        each for record in other for each in record["hash_ids"]
    }
    assert all(0 <= each < 2**53 for record in one for each in record["hash_ids"])


def test_bailian_tells_who_follows_whom() -> None:
    said = [Message(role="user", content="x" * 100)]
    requests = [
        Request(id="a", time_s=1.0, messages=tuple(said), session="s"),
        Request(id="b", time_s=2.0, messages=tuple(said * 2), session="s"),
        Request(id="c", time_s=3.0, messages=tuple(said), parent="a", turn=4),
        Request(id="d", time_s=4.0, messages=tuple(said)),
    ]
    _, records = traced(requests, "bailian")
    assert [(r["chat_id"], r["parent_chat_id"], r["turn"]) for r in records] == [
        (0, -1, 1),
        (1, 0, 2),
        (2, 0, 5),
        (3, -1, 1),
    ]
    assert [request.turn for request in read_again(records, "bailian")] == [0, 1, 4, 0]


@given(st.lists(st.tuples(st.integers(0, 3000), st.none() | st.integers(1, 2000)), min_size=1, max_size=20))
def test_lengths_always_fit_their_blocks(log: list[tuple[int, int | None]]) -> None:
    requests = [
        Request(id=f"{n}", time_s=float(n), prompt="x" * chars, input_tokens=tokens)
        for n, (chars, tokens) in enumerate(log)
    ]
    if not any(chars for chars, _ in log):
        with pytest.raises(BadInput, match="no request of the log has a block"):
            traced(requests, "bailian")
        return
    report, records = traced(requests, "bailian")
    for record in records:
        assert record["input_length"] <= 16 * len(record["hash_ids"]) < record["input_length"] + 16
    assert report.estimated_lengths == sum(tokens is None for _, tokens in log)


def test_lengths_that_the_log_tells_are_kept() -> None:
    prompts = ["a" * 700, "b" * 350, "c" * 1050]
    requests = [
        Request(id=p, time_s=1.0, prompt=p, input_tokens=len(p) // 7, output_tokens=n) for n, p in enumerate(prompts)
    ]
    report, records = traced(requests, "bailian")
    assert (report.block_chars, report.chars_per_token) == (112, 7.0)
    assert [record["input_length"] for record in records] == [100, 50, 150]
    assert [record["output_length"] for record in records] == [0, 1, 2]
    assert (report.estimated_lengths, report.fitted_lengths, report.without_output_length) == (0, 0, 0)


def test_it_is_in_order_of_time_and_says_what_had_none() -> None:
    requests = [Request(id=f"{n}", time_s=float(9 - n), prompt=f"{n}" * 64) for n in range(3)]
    report, records = traced(requests, "mooncake")
    assert [record["timestamp"] for record in records] == [0, 1000, 2000]
    assert report.without_time == 0
    report, records = traced([Request(id=f"{n}", prompt="x") for n in range(3)], "mooncake")
    assert [record["timestamp"] for record in records] == [0, 1000, 2000]
    assert report.without_time == 3
    mixed = [Request(id="a", prompt="x"), Request(id="b", prompt="x", time_s=7.0), Request(id="c", prompt="x")]
    assert [record["timestamp"] for record in traced(mixed, "mooncake")[1]] == [0, 0, 0]


def test_a_trace_stays_one_and_keeps_its_blocks() -> None:
    requests = [
        Request(id=f"{n}", time_s=float(n), blocks=(900, 901 + n % 2), block_tokens=512, input_tokens=1000)
        for n in range(4)
    ]
    _, records = traced(requests, "mooncake")
    assert [record["hash_ids"] for record in records] == [[0, 1], [0, 2], [0, 1], [0, 2]]
    assert [record["input_length"] for record in records] == [1000] * 4
    assert "block_size" not in records[0]
    assert traced(requests, "bailian")[1][0]["block_size"] == 512


@pytest.mark.parametrize("first", [0, 1])
def test_first_turns_are_first_whatever_the_log_counts_from(first: int) -> None:
    requests = [
        Request(id=f"{chat}-{turn}", time_s=float(turn), prompt="x" * 200, session=chat, turn=first + turn)
        for turn in range(3)
        for chat in ("a", "b")
    ]
    _, records = trace_lines(requests, renderer_for(Rendering()), "bailian")
    assert [record["turn"] for record in records] == [1, 1, 2, 2, 3, 3]
