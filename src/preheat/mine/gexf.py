"""The token-flow graph as GEXF, which Gephi opens: written directly, so that no graph library is needed."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from preheat.mine.token_graph import TokenGraph
from preheat.records.profile import Topology

_ATTRIBUTES = (("rank", "double"), ("in-degree", "integer"), ("classes", "string"))


MOST_NODES = 1_000


def to_gexf(graph: TokenGraph, topology: Topology | None = None, most: int = MOST_NODES) -> str:
    """GEXF 1.3 of the ``most`` subwords of highest PageRank that may be shown, and of the transitions between them.

    Nodes have their token as label, the rank and in-degree that they have in the whole graph, and the classes of
    ``topology`` that they are told of, with ``|`` between; edges have their count as weight.
    """
    return "".join(_lines(graph, topology, most))


def _lines(graph: TokenGraph, topology: Topology | None, most: int) -> Iterator[str]:
    places = graph.best(graph.rank)[:most]
    classes: dict[str, list[str]] = {}
    for flow in topology.classes if topology else ():
        for token in {hub.token for hub in (*flow.top, *flow.hubs)}:
            classes.setdefault(token, []).append(flow.name)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
    yield "<meta><creator>preheat</creator><description>token flow: how often a subword follows another</description>"
    yield '</meta>\n<graph mode="static" defaultedgetype="directed">\n<attributes class="node" mode="static">\n'
    for number, (title, kind) in enumerate(_ATTRIBUTES):
        yield f'<attribute id="{number}" title="{title}" type="{kind}"/>\n'
    yield "</attributes>\n<nodes>\n"
    for place in places:
        token = graph.vocabulary[place]
        yield f'<node id="{place}" label={quoteattr(token)}><attvalues>'
        values = (f"{graph.rank[place]:.9g}", str(graph.in_degree[place]), "|".join(sorted(classes.get(token, []))))
        for number, value in enumerate(values):
            yield f'<attvalue for="{number}" value={quoteattr(value)}/>'
        yield "</attvalues></node>\n"
    yield "</nodes>\n<edges>\n"
    part = graph.between(places)
    for number, (source, target, weight) in enumerate(zip(part.row, part.col, part.data, strict=True)):
        yield f'<edge id="{number}" source="{places[source]}" target="{places[target]}" weight="{weight:.17g}"/>\n'
    yield "</edges>\n</graph>\n</gexf>\n"
