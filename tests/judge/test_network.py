"""The picture of the token flow."""

from __future__ import annotations

import xml.etree.ElementTree as Xml

from log_insights import topology
from msgspec.structs import replace

from preheat.judge.network import HEIGHT, WIDTH, drawn_links, label, network
from preheat.records.profile import Hub, Topology

AT = "{http://www.w3.org/2000/svg}"


def drawn(found: Topology) -> Xml.Element:
    return Xml.fromstring(network("net", "How <tokens> flow", "Strongest: a & b", found))


def test_every_hub_and_each_of_its_strongest_flows_is_drawn() -> None:
    found = topology()
    root = drawn(found)
    boxes = {rect.attrib["data-name"]: float(rect.attrib["data-value"]) for rect in root.iter("rect")}
    assert boxes == {f"hub.{hub.token}": hub.rank for hub in found.hubs}
    weights = {
        path.attrib["data-name"]: int(path.attrib["data-value"]) for path in root.iter("path") if path.get("class")
    }
    tokens = [hub.token for hub in found.hubs]
    links = {
        f"link.{tokens[one.source]}.{tokens[one.target]}": one.weight for one in drawn_links(found.hubs, found.links)
    }
    assert weights == links
    for index in range(len(found.hubs)):
        out = [link for link in found.links if link.source == index != link.target]
        if out:
            strongest = max(out, key=lambda link: link.weight)
            assert f"link.{tokens[strongest.source]}.{tokens[strongest.target]}" in weights
    assert 40 <= len(weights) <= 4 * 40


def test_labels_are_in_their_boxes_and_boxes_apart_and_in_the_frame() -> None:
    rects = [{k: float(r.attrib[k]) for k in ("x", "y", "width", "height")} for r in drawn(topology()).iter("rect")]
    for index, one in enumerate(rects):
        assert one["x"] >= 0
        assert one["y"] >= 0
        assert one["x"] + one["width"] <= WIDTH
        assert one["y"] + one["height"] <= HEIGHT
        for other in rects[index + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"] + 0.2 or other["x"] + other["width"] <= one["x"] + 0.2,
                one["y"] + one["height"] <= other["y"] + 0.2 or other["y"] + other["height"] <= one["y"] + 0.2,
            )
            assert any(apart)


def test_it_is_named_and_described_and_text_cannot_break_out() -> None:
    hub = Hub(token="</svg><script>\u202e\x1b[31m", rank=0.5, in_degree=1)
    root = drawn(replace(topology(), hubs=(hub, *topology().hubs[1:])))
    assert root.find("title") is not None
    assert root.attrib["aria-labelledby"] == root[0].attrib["id"]
    assert root.attrib["aria-describedby"] == root[1].attrib["id"]
    assert root[0].text == "How <tokens> flow"
    assert root[1].text == "Strongest: a & b"
    assert not list(root.iter("script"))
    assert label("\u202e\x1b[31mx") == "x"
    assert len(label("x" * 99)) == 16


def test_more_rank_is_larger() -> None:
    sizes = [
        float(text.attrib["style"].removeprefix("font-size:").removesuffix("px"))
        for text in drawn(topology()).iter("text")
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] >= 14


def test_one_hub_or_equal_ranks_are_no_trouble() -> None:
    one = replace(topology(), hubs=topology().hubs[:1], links=())
    assert len(list(drawn(one).iter("rect"))) == 1
    same = tuple(replace(hub, rank=0.01) for hub in topology().hubs)
    assert len(list(drawn(replace(topology(), hubs=same)).iter("rect"))) == len(same)
