"""The token-flow graph as an SVG picture: hubs as labelled boxes, the strongest flows between them as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log
from unicodedata import east_asian_width

import numpy as np

from preheat.judge.layout import Floats, place
from preheat.judge.shown import plain
from preheat.records.profile import Hub, Link, Topology

WIDTH, HEIGHT = 960.0, 600.0
_MARGIN = 10.0
_GAP = 9.0
_LONGEST = 16
_LEAST_PX, _MOST_PX = 14.0, 24.0
_EACH = 2
"""Of each hub, so many of its strongest flows in and out are drawn."""
_SHADES = 4


def network(id: str, title: str, description: str, topology: Topology) -> str:
    """The picture; text from the log is escaped, colours come from the page by class (``hub h0``..``h3``, ``flow``)."""
    hubs = topology.hubs
    links = drawn_links(hubs, topology.links)
    sizes = _sizes(hubs)
    boxes = np.array(
        [[_text_width(label(hub.token), size) + 14, size * 1.5] for hub, size in zip(hubs, sizes, strict=True)]
    ).reshape(-1, 2)
    at = place(boxes, _pull(len(hubs), links), WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN, _GAP) + _MARGIN
    head = f"{escape(id)}-a"
    shade = [min(_SHADES - 1, int(_SHADES * index / max(1, len(hubs)))) for index in range(len(hubs))]
    heaviest = max((link.weight for link in links), default=1)
    drawn = [_arrow(head, link, hubs, at, boxes, heaviest) for link in reversed(links) if link.source != link.target]
    drawn += [
        _box(hub, at[index], boxes[index], size, shade[index])
        for index, (hub, size) in enumerate(zip(hubs, sizes, strict=True))
    ]
    named, described = f"{escape(id)}-t", f"{escape(id)}-d"
    marker = (
        f'<marker id="{head}" class="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.8L8 4L0 7.2z"/></marker>'
    )
    return (
        f'<svg id="{escape(id)}" class="chart network" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-labelledby="{named}" aria-describedby="{described}"><title id="{named}">{escape(title)}</title>'
        f'<desc id="{described}">{escape(description)}</desc><defs>{marker}</defs>{"".join(drawn)}</svg>'
    )


def label(token: str) -> str:
    """A subword as it is shown: on one line, not too long."""
    shown = plain(token)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def drawn_links(hubs: Sequence[Hub], links: Sequence[Link]) -> list[Link]:
    """The strongest flows out of and into each hub, heaviest first: all of them would hide each other."""
    kept: set[int] = set()
    for index in range(len(hubs)):
        for end in ("source", "target"):
            own = [n for n, link in enumerate(links) if getattr(link, end) == index and link.source != link.target]
            kept.update(sorted(own, key=lambda n: (-links[n].weight, n))[:_EACH])
    return sorted((links[n] for n in kept), key=lambda link: (-link.weight, link.source, link.target))


def _sizes(hubs: Sequence[Hub]) -> list[float]:
    """Type sizes in pixels, by the logarithm of the rank."""
    if not hubs:
        return []
    least, greatest = log(min(hub.rank for hub in hubs)), log(max(hub.rank for hub in hubs))
    span = greatest - least or 1.0
    return [round(_LEAST_PX + (_MOST_PX - _LEAST_PX) * (log(hub.rank) - least) / span, 1) for hub in hubs]


def _text_width(text: str, size: float) -> float:
    wide = sum(1.0 if east_asian_width(character) in "WF" else 0.64 for character in text)
    return max(wide, 0.8) * size


def _pull(count: int, links: Sequence[Link]) -> Floats:
    pull = np.zeros((count, count))
    heaviest = max((link.weight for link in links), default=1)
    for link in links:
        strength = log(1 + link.weight) / log(1 + heaviest)
        for one, other in ((link.source, link.target), (link.target, link.source)):
            pull[one, other] = max(pull[one, other], strength)
    return pull


def _box(hub: Hub, at: Floats, box: Floats, size: float, shade: int) -> str:
    (x, y), (wide, high) = at.tolist(), box.tolist()
    said = f"{plain(hub.token)}: PageRank {hub.rank:.4f}, after {hub.in_degree} distinct subwords"
    return (
        f'<g class="hub h{shade}"><title>{escape(said)}</title><rect data-name="hub.{escape(plain(hub.token))}" '
        f'data-value="{hub.rank!r}" x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" '
        f'height="{high:.1f}" rx="{high / 2.6:.1f}"/><text x="{x:.1f}" y="{y + 0.35 * size:.1f}" text-anchor="middle" '
        f'style="font-size:{size:g}px">{escape(label(hub.token))}</text></g>'
    )


def _arrow(head: str, link: Link, hubs: Sequence[Hub], at: Floats, boxes: Floats, heaviest: int) -> str:
    """A curve from box to box; the two ways of a pair bend to different sides. ``head`` is the arrow head's id."""
    start, end = at[link.source], at[link.target]
    bend = (start + end) / 2 + 0.12 * np.array([start[1] - end[1], end[0] - start[0]])
    start, end = _edge(start, bend, boxes[link.source]), _edge(end, bend, boxes[link.target])
    wide = 0.7 + 3.3 * (log(1 + link.weight) / log(1 + heaviest)) ** 3
    name = f"link.{plain(hubs[link.source].token)}.{plain(hubs[link.target].token)}"
    return (
        f'<path class="flow" data-name="{escape(name)}" data-value="{link.weight}" stroke-width="{wide:.2f}" '
        f'marker-end="url(#{head})" d="M{start[0]:.1f} {start[1]:.1f}Q{bend[0]:.1f} {bend[1]:.1f} '
        f'{end[0]:.1f} {end[1]:.1f}"/>'
    )


def _edge(centre: Floats, towards: Floats, box: Floats) -> Floats:
    """Where the line from a box's centre leaves it."""
    way = towards - centre
    reach = min([1.0, *(box[axis] / 2 / abs(way[axis]) for axis in (0, 1) if abs(way[axis]) > 1e-9)])
    left: Floats = centre + way * reach
    return left
