"""Breaks planted in logs are found, named and priced; logs without any have none."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable

import msgspec
import pytest

from preheat.mine.breaks import find_breaks
from preheat.mine.miner import mine
from preheat.prompts.render import renderer_for
from preheat.records.outcomes import BreakCause
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request

WORDS = [
    "river",
    "stone",
    "window",
    "paper",
    "garden",
    "winter",
    "orange",
    "table",
    "letter",
    "morning",
    "quick",
    "silver",
]
REQUESTS = 200


class Log:
    """Random, but the same every time. ``system`` is long and always the same."""

    def __init__(self) -> None:
        self.chooser = random.Random(5)
        self.system = self.words(150)
        self.shots = [f"Q: {self.words(10)}\nA: {self.words(4)}" for _ in range(5)]
        self.tools = [
            {"type": "function", "function": {"name": word, "description": self.words(14), "parameters": {}}}
            for word in WORDS[:6]
        ]

    def words(self, count: int) -> str:
        return " ".join(self.chooser.choice(WORDS) for _ in range(count))

    def shuffled(self, things: list[object]) -> list[object]:
        return self.chooser.sample(things, len(things))

    def chat(self, number: int, system: str, tools: list[object] | None = None) -> Request:
        messages = (Message(role="system", content=system), Message(role="user", content=self.words(20)))
        tenant = f"t{number % 2}"
        return Request(id=str(number), time_s=float(number), tenant=tenant, tools=tools, messages=messages)

    def profile(self, make: Callable[[int], Request]) -> Profile:
        return mine(map(make, range(REQUESTS)), renderer_for(Rendering()))


@pytest.fixture
def log() -> Log:
    return Log()


def planted(log: Log, kind: str) -> Callable[[int], Request]:
    def key_order(number: int) -> list[object]:
        members = log.shuffled([("name", "x"), ("description", "some words"), ("strict", True), ("parameters", {})])
        return [{"type": "function", "function": dict(members)}]  # type: ignore[arg-type]

    def stamp(number: int) -> str:
        return f"2026-01-{number % 28 + 1:02}T{number % 24:02}:{number * 7 % 60:02}:{number * 13 % 60:02}Z"

    made: dict[str, Callable[[int], Request]] = {
        "timestamp": lambda n: log.chat(n, f"You are a helper. Current time: {stamp(n)}. {log.system}"),
        "epoch": lambda n: log.chat(n, f"now={1_767_225_600 + n * 61} {log.system}"),
        "uuid": lambda n: log.chat(n, f"Request: {uuid.UUID(int=log.chooser.getrandbits(128))}\n{log.system}"),
        "id": lambda n: log.chat(n, f"Helper. trace={log.chooser.getrandbits(80):020x}a1 {log.system}"),
        "email": lambda n: log.chat(n, f"You talk to person{n}@example.org. {log.system}"),
        "key and time": lambda n: log.chat(n, f"Key k{n:03}abcdefghij123456, time {stamp(n)}. {log.system}"),
        "name": lambda n: log.chat(n, f"The user's name is {log.chooser.choice(WORDS).title()} X{n}. {log.system}"),
        "tools": lambda n: log.chat(n, log.system, log.shuffled(list(log.tools))),
        "keys": lambda n: log.chat(n, log.system, key_order(n)),
        "few-shot": lambda n: log.chat(
            n, "Answer like this.\n\n" + "\n\n".join(map(str, log.shuffled(list(log.shots)))) + "\n\n" + log.system
        ),
    }
    return made[kind]


@pytest.mark.parametrize(
    ("kind", "cause", "share"),
    [
        ("timestamp", BreakCause.TIMESTAMP, 0.9),
        ("epoch", BreakCause.TIMESTAMP, 0.9),
        ("uuid", BreakCause.UUID, 0.9),
        ("id", BreakCause.ID, 0.9),
        ("email", BreakCause.EMAIL, 0.9),
        ("key and time", BreakCause.TIMESTAMP, 0.9),
        ("name", BreakCause.NAME, 0.9),
        ("tools", BreakCause.ORDER, 0.9),
        ("keys", BreakCause.ORDER, 0.9),
        ("few-shot", BreakCause.ORDER, 0.9),
    ],
)
def test_a_planted_break_is_found_and_priced(log: Log, kind: str, cause: BreakCause, share: float) -> None:
    profile = log.profile(planted(log, kind))
    found = find_breaks(profile)
    assert [each.cause for each in found] == [cause]
    worst = found[0]
    assert worst.requests == REQUESTS
    assert worst.tenants == {"t0": REQUESTS // 2, "t1": REQUESTS // 2}
    assert worst.examples[0] != worst.examples[1]
    # What would be computed if the place were empty: every question, and the rest once.
    healed = Log().profile(lambda number: log.chat(number, log.system))
    truth = profile.distinct_blocks - healed.distinct_blocks
    assert share * truth <= worst.lost_blocks <= truth / share


def test_the_text_quoted_is_what_differs(log: Log) -> None:
    (found,) = find_breaks(log.profile(planted(log, "timestamp")))
    assert found.before.endswith("You are a helper. Current time: ")
    assert all(len(text) == len("2026-01-01T00:00:00Z.") and text.endswith("Z.") for text in found.examples)
    assert found.after.startswith(" " + log.system[:20])
    assert found.at_chars == len("<|im_start|>system\nYou are a helper. Current time: ")


def test_a_break_of_one_template_among_many_is_found(log: Log) -> None:
    apps = [log.words(100) for _ in range(80)]

    def mixed(number: int) -> Request:
        if number % 10 == 0:
            return planted(log, "uuid")(number)
        return log.chat(number, apps[number % 80])

    profile = mine(map(mixed, range(1_200)), renderer_for(Rendering()))
    (found,) = find_breaks(profile)
    assert (found.cause, found.requests, found.variants) == (BreakCause.UUID, 120, 120)


@pytest.mark.parametrize("kind", ["chat", "rag", "question first", "conversation", "several apps"])
def test_questions_and_documents_that_differ_are_no_breaks(log: Log, kind: str) -> None:
    apps = [log.words(150) for _ in range(8)]
    tail = "\nAnswer from the context alone, and say so when it is not there, in one sentence."
    talks: dict[int, list[Message]] = {}

    def conversation(number: int) -> Request:
        talk = talks.setdefault(number % 20, [Message(role="system", content=log.system)])
        talk.append(Message(role="user", content=log.words(15)))
        request = Request(id=str(number), time_s=float(number), messages=tuple(talk))
        talk.append(Message(role="assistant", content=log.words(40)))
        return request

    made: dict[str, Callable[[int], Request]] = {
        "chat": lambda n: log.chat(n, log.system),
        "rag": lambda n: log.chat(n, f"Context:\n{log.words(120)}\n{tail}"),
        "question first": lambda n: Request(id=str(n), time_s=float(n), prompt=log.words(30) + tail),
        "conversation": conversation,
        "several apps": lambda n: log.chat(n, apps[n % 8]),
    }
    assert find_breaks(log.profile(made[kind])) == []


def test_short_text_before_long_text_counts_and_long_text_does_not(log: Log) -> None:
    short = find_breaks(log.profile(lambda n: log.chat(n, f"About {log.words(3)}: {log.system}")))
    assert [each.cause for each in short] == [BreakCause.TEXT]
    assert find_breaks(log.profile(lambda n: log.chat(n, f"About {log.words(80)}: {log.system}"))) == []


def test_without_text_nothing_can_be_said(log: Log) -> None:
    profile = log.profile(planted(log, "uuid"))
    bare = [msgspec.structs.replace(node, text=None) for node in profile.nodes]
    assert find_breaks(msgspec.structs.replace(profile, nodes=bare, has_text=False)) == []


def test_it_is_the_same_every_time(log: Log) -> None:
    profile = log.profile(planted(log, "tools"))
    assert find_breaks(profile) == find_breaks(profile)
