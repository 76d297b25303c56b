"""Hubs, links, and what sets each class of prompts apart."""

from __future__ import annotations

import random
from collections.abc import Collection

import numpy as np
import pytest
from msgspec import structs

from preheat.files.versioned import digest
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.mine.token_graph import Flow, graph
from preheat.mine.topology import draw_prompts, topology
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile, Topology
from preheat.records.rendering import Rendering
from preheat.records.request import Request

NAMES = ["river", "market", "garden", "engine", "window", "teacher", "planet", "bridge"]


def profile_of(prompts: list[str]) -> Profile:
    made = [Request(id=str(number), prompt=prompt, time_s=0.0) for number, prompt in enumerate(prompts)]
    return mine(made, renderer_for(Rendering()), MineSettings(block_chars=8))


def mixed(count: int = 120, seed: int = 3) -> list[str]:
    """Prompts that reason, and prompts that ask for JSON."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        one, other = draw.sample(NAMES, 2)
        reason = f"{number} If the {one} is open then the {other} is closed, therefore we conclude step by step that"
        schema = f'{number} Reply with {{"schema": {{"{one}": "string", "{other}": {{"type": "number"}}}}}} and'
        rest = f"the {draw.choice(NAMES)} of {draw.choice(NAMES)} is what we need."
        made.append(f"{draw.choice([reason, schema])} {rest}")
    return made


def classes_of(prompt: str) -> Collection[str]:
    return [name for name, word in (("multi-hop", "therefore"), ("json-schema", "schema")) if word in prompt]


def told(profile: Profile, **settings: int) -> Topology:
    found = topology(profile, classes_of, MineSettings(**settings))
    assert found is not None
    return found


def test_each_class_is_told_by_the_words_that_set_it_apart() -> None:
    found = told(profile_of(mixed()))
    flows = {flow.name: flow for flow in found.classes}
    assert set(flows) == {"json-schema", "multi-hop"}
    assert {"then", "therefore", "conclude"} <= {hub.token for hub in flows["multi-hop"].top}
    assert {"{", "}", "schema"} <= {hub.token for hub in flows["json-schema"].top}
    assert not {"schema", "{"} & {hub.token for hub in flows["multi-hop"].top}
    assert not {"therefore", "then"} & {hub.token for hub in flows["json-schema"].top}
    assert "the" in {hub.token for hub in flows["multi-hop"].hubs}
    assert sum(flow.requests for flow in found.classes) == found.class_requests == 120


def test_the_numbers_are_those_of_the_graph() -> None:
    profile = profile_of(mixed())
    found, whole = told(profile), graph(profile)
    assert (found.subwords, found.transitions) == (len(whole.vocabulary), whole.matrix.nnz)
    assert found.weight == whole.matrix.sum()
    assert found.mean_in_degree == pytest.approx(found.transitions / found.subwords, abs=1e-4)
    assert [hub.rank for hub in found.hubs] == sorted((hub.rank for hub in found.hubs), reverse=True)
    place = {token: index for index, token in enumerate(whole.vocabulary)}
    for link in found.links:
        source, target = found.hubs[link.source].token, found.hubs[link.target].token
        assert whole.matrix[place[source], place[target]] == link.weight > 0
    for hub in found.hubs:
        assert hub.in_degree == np.count_nonzero(whole.matrix[:, [place[hub.token]]].toarray())


def test_nothing_depends_on_the_order_of_the_log_or_of_the_nodes() -> None:
    texts = mixed()
    assert digest(told(profile_of(texts))) == digest(told(profile_of(texts[::-1])))


def test_repeats_weigh_and_do_not_change_what_is_distinct() -> None:
    once, twice = (told(profile_of(texts)) for texts in (mixed(), mixed() * 2))
    assert twice.weight == 2 * once.weight
    assert (twice.subwords, twice.transitions) == (once.subwords, once.transitions)
    assert [hub.token for hub in twice.hubs] == [hub.token for hub in once.hubs]


def test_classes_may_be_given_by_node() -> None:
    profile = profile_of(mixed())
    drawn = draw_prompts(profile, classes_of, 10_000)
    given = {each.node: each.classes for each in drawn}
    assert topology(profile, given) == topology(profile, classes_of)


def test_a_drawn_part_speaks_for_all_requests() -> None:
    draw = np.random.default_rng(1)
    texts = [f"{n} prompt {n} about {n * n}" for n in range(3000)]
    logged = [text for text in texts for _ in range(min(400, int(draw.pareto(1.0)) + 1))]
    profile = profile_of(logged)
    drawn = draw_prompts(profile, lambda _: ["all"], 300)
    assert 230 < len(drawn) < 370
    assert sum(each.weight for each in drawn) == pytest.approx(len(logged), rel=0.15)
    heavy = max(node.ends for node in profile.nodes)
    assert any(profile.nodes[each.node].ends == heavy == each.weight for each in drawn)
    assert len(draw_prompts(profile, lambda _: ["all"], 10_000)) == sum(node.ends > 0 for node in profile.nodes)


def test_a_class_flow_is_made_from_as_much_text_as_was_asked_for() -> None:
    profile = profile_of(mixed(400))
    small, large = (told(profile, topology_class_words=words) for words in (300, 100_000))
    for one, other in zip(small.classes, large.classes, strict=True):
        assert 300 <= one.words < 400 < other.words
        assert one.requests == other.requests


def test_without_text_there_is_no_topology() -> None:
    made = [Request(id="1", prompt="a prompt whose text is not kept", time_s=0.0)]
    profile = mine(made, renderer_for(Rendering()), MineSettings(block_chars=8, keep_text=False))
    assert topology(profile, classes_of) is None


def test_text_that_was_not_kept_lessens_what_is_covered() -> None:
    profile = profile_of(mixed())
    nodes = [structs.replace(node, text=None) if n % 3 else node for n, node in enumerate(profile.nodes)]
    part = topology(structs.replace(profile, nodes=nodes), classes_of)
    assert part is not None
    assert 0 < part.covered < 1
    flow = Flow(structs.replace(profile, nodes=nodes), MineSettings())
    assert flow.lengths[[n for n, node in enumerate(nodes) if node.text is None]].sum() == 0
