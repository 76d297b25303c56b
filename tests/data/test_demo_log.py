"""What can be checked of the bundled excerpt without the log it was taken from."""

import json
import lzma
import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
DEMO_LOG = REPOSITORY / "examples" / "data" / "demo_log.jsonl.xz"
FIELDS = {"request_id", "timestamp", "tenant", "session_id", "turn", "messages"}
PERSONAL = {
    "e-mail": r"[\w.+-]+@[\w-]+\.\w+",
    "phone": r"(?<![\w.,$-])(?:\+\d{1,3}[-. ]?)?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\w)|\+\d{8,15}",
    "identity number": r"\b\d{3}-\d{2}-\d{4}\b",
    "card": r"\b(?:\d[ -]?){15,16}\b",
    "key": r"\b(?:sk-|AKIA|ghp_|xox[bp]-|AIza)[A-Za-z0-9_-]{8,}|PRIVATE KEY",
    "web or network address": r"https?://\S+|\b(?:\d{1,3}\.){3}\d{1,3}\b",
}


@pytest.fixture(scope="module")
def lines() -> list[str]:
    with lzma.open(DEMO_LOG, "rt", encoding="utf-8") as log:
        return log.read().splitlines()


@pytest.fixture(scope="module")
def requests(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def text(request: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in request["messages"])


def test_is_small_and_holds_enough_requests(lines: list[str]) -> None:
    assert DEMO_LOG.stat().st_size < 3_000_000
    assert 2_000 <= len(lines) <= 6_000


def test_every_line_is_a_request_without_labels(requests: list[dict[str, Any]]) -> None:
    for request in requests:
        assert set(request) == FIELDS  # so neither app nor kind nor tools
        assert request["messages"]
        assert request["messages"][-1]["role"] == "user"
        for message in request["messages"]:
            assert set(message) == {"role", "content"}
            assert message["role"] in ("system", "user", "assistant")
            assert message["content"].strip()
    assert len({request["request_id"] for request in requests}) == len(requests)


def test_no_label_is_left_in_the_names(requests: list[dict[str, Any]]) -> None:
    for request in requests:
        assert re.fullmatch(r"req-\d{6}", request["request_id"])
        assert re.fullmatch(r"tenant-\d{3}", request["tenant"])
        assert request["session_id"] is None or re.fullmatch(r"s-[0-9a-f]{12}", request["session_id"])


def test_is_in_time_order_over_three_days(requests: list[dict[str, Any]]) -> None:
    times = [request["timestamp"] for request in requests]
    assert all(a <= b for a, b in pairwise(times))
    assert times[0] >= 0
    assert 71 * 3600 < times[-1] < 72 * 3600


def test_has_many_tenants_and_templates(requests: list[dict[str, Any]]) -> None:
    assert len({request["tenant"] for request in requests}) >= 15
    systems = Counter(r["messages"][0]["content"] for r in requests if r["messages"][0]["role"] == "system")
    assert sum(count >= 30 for count in systems.values()) >= 30
    few_shot = Counter(text(r)[:300] for r in requests if r["session_id"] is None and len(r["messages"]) == 1)
    assert sum(count >= 30 for count in few_shot.values()) >= 4


def test_conversations_are_whole(requests: list[dict[str, Any]]) -> None:
    turns = defaultdict(list)
    for request in requests:
        if request["session_id"] is None:
            assert request["turn"] == 1
        else:
            turns[request["session_id"]].append(request)
    assert len(turns) >= 10
    for conversation in turns.values():
        assert [request["turn"] for request in conversation] == list(range(1, len(conversation) + 1))
        for before, after in pairwise(conversation):
            assert after["messages"][: len(before["messages"])] == before["messages"]


def test_suits_a_slow_engine_and_an_english_tokenizer(requests: list[dict[str, Any]]) -> None:
    for request in requests:
        content = "".join(message["content"] for message in request["messages"])
        assert len(content) <= 2_000
        assert request["session_id"] is not None or len(content) >= 500
        assert sum(not c.isascii() for c in content) <= 0.02 * len(content)


@pytest.mark.parametrize("kind", PERSONAL)
def test_holds_nothing_personal(requests: list[dict[str, Any]], kind: str) -> None:
    found = [hit.group() for request in requests for hit in re.finditer(PERSONAL[kind], text(request))]
    assert found == []


def test_sources_are_credited() -> None:
    notice = (REPOSITORY / "NOTICE").read_text(encoding="utf-8")
    for name in ("ServeGen", "fabric", "BIG-Bench Hard", "GSM8K", "FastChat", "MT-Bench-101", "Self-Instruct"):
        assert name in notice
    assert "Permission is hereby granted, free of charge" in notice
