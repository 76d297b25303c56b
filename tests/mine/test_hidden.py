"""What redaction hides is not spelt out by the token-flow graph, nor by its picture."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.judge.insight import insight
from preheat.judge.report_html import render_log
from preheat.mine import hidden
from preheat.mine.gexf import to_gexf
from preheat.mine.hidden import hidden_spans
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.mine.token_graph import TokenGraph, graph
from preheat.prompts.redaction import redact
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

SYSTEM = (
    "You answer questions about orders and returns. The database has password: xK9fQ2mZ7pLwR4 and nobody may know it. "
    "Call the manager at +49 171 864 2297 when in doubt. The card on file is 4111 1111 1111 1111 for refunds. "
)
SECRET = ("xK", "pLwR", "mZ", "fQ", "171", "864", "229", "411")
PATHS = ["xK9fQ2mZ7pLwR4", "491718642297", "4111111111111111"]


def profile_of(texts: list[str], block_chars: int = 16) -> Profile:
    made = [Request(id=str(number), prompt=text, time_s=0.0) for number, text in enumerate(texts)]
    return mine(made, renderer_for(Rendering()), MineSettings(block_chars=block_chars))


def labels_and_edges(found: TokenGraph) -> tuple[set[str], set[tuple[str, str]]]:
    root = Xml.fromstring(to_gexf(found))
    at = "{http://gexf.net/1.3}"
    names = {node.attrib["id"]: node.attrib["label"].removeprefix("##") for node in root.iter(f"{at}node")}
    return set(names.values()), {
        (names[edge.attrib["source"]], names[edge.attrib["target"]]) for edge in root.iter(f"{at}edge")
    }


@pytest.mark.parametrize("block_chars", [8, 16, 100])
@pytest.mark.parametrize("looked_chars", [0, 1_200, hidden.LOOKED_CHARS])
def test_a_secret_that_all_prompts_share_is_not_shown(
    block_chars: int, looked_chars: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden.Hidden.__init__, "__defaults__", (looked_chars,))
    rest = "As was asked already, the rest of it all is kept in a file with us, and it goes on."
    texts = [f"{SYSTEM}Question {n}: where is my order of {n % 7} May? {rest} {n}" for n in range(100)]
    profile = profile_of(texts, block_chars)
    for found in (graph(profile), graph(profile, split=lambda words: [list(word) for word in words])):
        labels, edges = labels_and_edges(found)
        assert {"orders", "password", "Call"} & labels or {"o", "r"} <= labels
        assert not [label for label in labels if any(secret in label for secret in SECRET)]
        for path in PATHS:
            cuts = itertools.combinations(range(len(path) + 1), 3)
            assert not {(path[a:b], path[b:c]) for a, b, c in cuts if c - a >= 3} & edges
    page = render_log(insight(profile), "What the log holds", "now")
    assert not [secret for secret in ("xK", "pLwR", "mZ") if secret in page]
    assert profile.topology is not None
    told = {hub.token for hub in profile.topology.hubs}
    told |= {hub.token for flow in profile.topology.classes for hub in (*flow.top, *flow.hubs)}
    assert told
    assert not [token for token in told if any(secret in token for secret in SECRET)]


def test_characters_that_stand_elsewhere_do_not_spell_it() -> None:
    """Each character of the secret is common, their order is not."""
    singles = " ".join(sorted(set("xK9fQ2mZ7pLwR4")))
    texts = [f"{SYSTEM}Letters {singles} and number {number} are fine to be shown to you." for number in range(60)]
    _, edges = labels_and_edges(graph(profile_of(texts), split=lambda words: [list(word) for word in words]))
    assert not {("x", "K"), ("K", "9"), ("9", "f"), ("f", "Q"), ("Q", "2"), ("m", "Z"), ("L", "w"), ("w", "R")} & edges
    assert ("f", "i") in edges


def test_numbers_that_hide_nothing_are_shown() -> None:
    texts = [
        f"Answer in 3 steps of at most 250 words. Question {number} of the day, and what follows from it."
        for number in range(40)
    ]
    labels, edges = labels_and_edges(graph(profile_of(texts)))
    assert {"3", "250"} <= labels
    assert ("in", "3") in edges


@given(st.lists(st.sampled_from([*PATHS, "password: xK9fQ2mZ7pLwR4", "+49 171 864 2297", "a@b.com", " ", ",", "the"])))
def test_what_is_outside_of_the_spans_stands_in_the_redacted_text(parts: list[str]) -> None:
    text = "".join(parts)
    spans = hidden_spans(text)
    assert spans is not None
    at, shown = 0, redact(text)
    place = 0
    for start, end in [*spans, (len(text), len(text))]:
        assert at <= start <= end
        place = shown.index(text[at:start], place) + start - at
        at = end


def test_what_cannot_be_told_is_not() -> None:
    assert hidden_spans("password: xK9f\x00Q2mZ7pLwR4") is None
    assert hidden_spans("plain\r\ntext") == []
