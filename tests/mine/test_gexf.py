"""The export that Gephi opens, read back by networkx."""

from __future__ import annotations

import io
import xml.etree.ElementTree as Xml

import networkx
import pytest

from preheat.mine.gexf import to_gexf
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.mine.token_graph import TokenGraph, graph
from preheat.mine.topology import topology
from preheat.prompts.render import renderer_for
from preheat.records.profile import Topology
from preheat.records.rendering import Rendering
from preheat.records.request import Request


@pytest.fixture(scope="module")
def mined() -> tuple[TokenGraph, Topology]:
    body = '<a href="x&y">: "the" answer\'s end of ünder 天气 is <|im_end|>'
    texts = [f"{n} {body} {n} thus it ends" for n in range(40)]
    made = [Request(id=str(number), prompt=prompt, time_s=0.0) for number, prompt in enumerate(texts)]
    profile = mine(made, renderer_for(Rendering()), MineSettings(block_chars=8))
    found = topology(profile, lambda text: ["few-shot", "rag"] if "3" in text else ["rag"])
    assert found is not None
    return graph(profile), found


def test_networkx_reads_back_the_same_graph(mined: tuple[TokenGraph, Topology]) -> None:
    found, told = mined
    read = networkx.read_gexf(io.BytesIO(to_gexf(found, told).encode()))
    assert read.is_directed()
    shown = [place for place, fit in enumerate(found.shown) if fit]
    assert {int(node): data["label"] for node, data in read.nodes(data=True)} == {n: found.vocabulary[n] for n in shown}
    for node, data in read.nodes(data=True):
        assert data["rank"] == pytest.approx(found.rank[int(node)], rel=1e-8)
        assert data["in-degree"] == found.in_degree[int(node)]
    edges = {(int(a), int(b)): data["weight"] for a, b, data in read.edges(data=True)}
    part = found.matrix.tocoo()
    assert edges == {
        (a, b): w for a, b, w in zip(part.row, part.col, part.data, strict=True) if found.shown[a] and found.shown[b]
    }
    classes = {data["label"]: data["classes"] for _, data in read.nodes(data=True)}
    named = {flow.name: {hub.token for hub in (*flow.top, *flow.hubs)} for flow in told.classes}
    assert {"<|im_end|>", "天气"} <= set(classes)
    for token, names in classes.items():
        assert set(filter(None, (names or "").split("|"))) == {name for name in named if token in named[name]}


def test_the_nodes_of_most_rank_are_kept(mined: tuple[TokenGraph, Topology]) -> None:
    found, _ = mined
    read = networkx.read_gexf(io.BytesIO(to_gexf(found, most=5).encode()))
    ranks = sorted((rank for rank, fit in zip(found.rank, found.shown, strict=True) if fit), reverse=True)
    assert sorted((data["rank"] for _, data in read.nodes(data=True)), reverse=True) == pytest.approx(ranks[:5])


def test_it_is_gexf_1_3(mined: tuple[TokenGraph, Topology]) -> None:
    """What the schema at gexf.net/1.3 asks of elements, their order, and of ids and types."""
    root = Xml.fromstring(to_gexf(*mined))
    at = "{http://gexf.net/1.3}"
    assert (root.tag, root.attrib) == (f"{at}gexf", {"version": "1.3"})
    assert [child.tag.removeprefix(at) for child in root] == ["meta", "graph"]
    kinds = root[1]
    assert kinds.attrib == {"mode": "static", "defaultedgetype": "directed"}
    assert [child.tag.removeprefix(at) for child in kinds] == ["attributes", "nodes", "edges"]
    declared = {one.attrib["id"]: one.attrib["type"] for one in kinds[0]}
    assert kinds[0].attrib["class"] == "node"
    assert set(declared.values()) <= {"double", "integer", "string"}
    ids = [node.attrib["id"] for node in kinds[1]]
    assert len(set(ids)) == len(ids)
    for node in kinds[1]:
        assert {value.attrib["for"] for value in node[0]} == set(declared)
    for edge in kinds[2]:
        assert {edge.attrib["source"], edge.attrib["target"]} <= set(ids)
        assert float(edge.attrib["weight"]) > 0


def test_nothing_that_may_not_be_shown_is_exported() -> None:
    texts = [f"{n} the secret word of user {'Ottokar' if n == 3 else 'nobody'} is here {n}" for n in range(20)]
    made = [Request(id=str(number), prompt=prompt, time_s=0.0) for number, prompt in enumerate(texts)]
    profile = mine(made, renderer_for(Rendering()), MineSettings(block_chars=8))
    found = graph(profile, split=lambda words: [[word] for word in words])
    assert "Ottokar" in found.vocabulary
    assert "Ottokar" not in to_gexf(found)
    assert "nobody" in to_gexf(found)
