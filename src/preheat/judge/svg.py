"""Static SVG charts: grouped bars, rows of bars, lines and points. No dependency, no script, no external request.

Colours come from the page's style sheet by class (``cold``, ``warm``, ``plain``, outcome names). Every drawn figure
carries ``data-name`` and ``data-value`` (and ``data-x``), so that it can be checked against the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from preheat.judge.scales import Scale, fitting, linear

WIDTH, HEIGHT = 460, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 32, 48
UNDER_BARS = 28

Points = Sequence[Sequence[float]]
Format = Callable[[float], str]


@dataclass(frozen=True)
class Bar:
    """One bar. ``name`` and ``value`` become data attributes, ``label`` is written at its end, ``kind`` its class."""

    name: str
    value: float
    label: str
    kind: str


@dataclass(frozen=True)
class Line:
    """One series of ``(x, y)``. ``shape`` is ``step``, ``line`` or ``points``; ``dots`` marks each point of a line."""

    name: str
    points: Points
    kind: str
    shape: str = "line"
    dots: bool = False


@dataclass(frozen=True)
class Axes:
    """Labels and number formats; ``y_high`` fixes the top of the axis; ``reference`` draws a labelled dashed line."""

    x_label: str
    y_label: str
    x_format: Format
    y_format: Format
    y_high: float | None = None
    fit_x: bool = False
    fit_y: bool = False
    reference: tuple[float, str] | None = None


def bars(id: str, title: str, groups: Sequence[tuple[str, Sequence[Bar]]], y_label: str, y_format: Format) -> str:
    """Grouped upright bars from zero; ``groups`` are (label, bars), side by side."""
    y = linear([bar.value for _, group in groups for bar in group], HEIGHT - UNDER_BARS, TOP)
    slot = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    drawn = [_y_axis(y, y_label, y_format)]
    for index, (label, group) in enumerate(groups):
        wide = min(46.0, slot * 0.84 / max(1, len(group)))
        left = LEFT + slot * (index + 0.5) - wide * len(group) / 2
        drawn += [_upright(bar, left + wide * n, wide, y) for n, bar in enumerate(group)]
        drawn.append(_text(LEFT + slot * (index + 0.5), HEIGHT - UNDER_BARS + 18, label, "tick", "middle"))
    drawn.append(_rule(LEFT, HEIGHT - UNDER_BARS, WIDTH - RIGHT, HEIGHT - UNDER_BARS, "axis"))
    return _chart(id, title, HEIGHT, drawn)


def rows(id: str, title: str, items: Sequence[Bar], label_width: float = 130) -> str:
    """Bars that lie, one a row: ``name``'s last part at the left, ``label`` at the bar's end."""
    x = linear([bar.value for bar in items], label_width, WIDTH - 50)
    drawn = []
    for index, bar in enumerate(items):
        top = 8 + index * 32
        wide = x.at(bar.value) - label_width
        drawn.append(_text(label_width - 10, top + 16, bar.name.rsplit(".", 1)[-1], "tick", "end"))
        drawn.append(_rect(bar, label_width, top, wide, 22))
        drawn.append(_text(label_width + wide + 8, top + 16, bar.label, "value", "start"))
    return _chart(id, title, 16 + 32 * len(items), drawn)


def lines(id: str, title: str, series: Sequence[Line], axes: Axes) -> str:
    """Lines, steps or points over two axes that start at zero, or are logarithmic where ``fit_x``/``fit_y`` say so."""
    xs = [point[0] for line in series for point in line.points]
    ys = [point[1] for line in series for point in line.points]
    ys += [axes.reference[0]] if axes.reference else []
    x = fitting(xs, LEFT, WIDTH - RIGHT) if axes.fit_x else linear(xs, LEFT, WIDTH - RIGHT)
    y = fitting(ys, HEIGHT - BOTTOM, TOP) if axes.fit_y else linear(ys, HEIGHT - BOTTOM, TOP, high=axes.y_high)
    drawn = [_y_axis(y, axes.y_label, axes.y_format), _x_axis(x, axes.x_label, axes.x_format)]
    if axes.reference:
        at = y.at(axes.reference[0])
        drawn.append(_rule(LEFT, at, WIDTH - RIGHT, at, "reference"))
        drawn.append(_text(WIDTH - RIGHT - 2, at - 6 if at > TOP + 16 else at + 15, axes.reference[1], "tick", "end"))
    drawn += [_series(line, x, y) for line in series]
    return _chart(id, title, HEIGHT, drawn)


def _series(line: Line, x: Scale, y: Scale) -> str:
    places = [(round(x.at(a), 1), round(y.at(b), 1)) for a, b in line.points]
    drawn = ""
    if line.shape != "points" and places:
        path = f"M{places[0][0]} {places[0][1]}"
        for a, b in places[1:]:
            path += f"H{a}V{b}" if line.shape == "step" else f"L{a} {b}"
        drawn = (
            f'<path class="line {line.kind}" data-name="{escape(line.name)}" data-value="{len(places)}" d="{path}"/>'
        )
    if line.shape != "points" and not line.dots:
        return drawn
    radius = (4.4 if line.kind == "cold" else 2.8) if line.shape == "points" else 1.8
    look = f"ring {line.kind}" if line.shape == "points" and line.kind == "cold" else f"dot {line.kind}"
    return drawn + "".join(
        f'<circle class="{look}" data-name="{escape(line.name)}" data-x="{point[0]:g}" '
        f'data-value="{point[1]:.6g}" cx="{a}" cy="{b}" r="{radius}"/>'
        for point, (a, b) in zip(line.points, places, strict=True)
    )


def _upright(bar: Bar, left: float, wide: float, y: Scale) -> str:
    top = y.at(bar.value)
    mark = _rect(bar, left + 1, top, wide - 2, y.start - top)
    return mark + _text(left + wide / 2, top - 5, bar.label, "value", "middle")


def _rect(bar: Bar, left: float, top: float, wide: float, high: float) -> str:
    return (
        f'<rect class="bar {escape(bar.kind)}" data-name="{escape(bar.name)}" data-value="{bar.value!r}" '
        f'x="{left:.2f}" y="{top:.3f}" width="{max(0.0, wide):.2f}" height="{max(0.0, high):.3f}">'
        f"<title>{escape(bar.name)}: {escape(bar.label)}</title></rect>"
    )


def _y_axis(y: Scale, label: str, show: Format) -> str:
    drawn = _text(2, 15, label, "label", "start")
    for tick in y.ticks():
        drawn += _rule(LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick), "grid")
        drawn += _text(LEFT - 7, y.at(tick) + 4, show(tick), "tick", "end")
    return drawn


def _x_axis(x: Scale, label: str, show: Format) -> str:
    base = HEIGHT - BOTTOM
    drawn = _rule(LEFT, base, WIDTH - RIGHT, base, "axis")
    for tick in x.ticks():
        anchor = "end" if x.at(tick) > WIDTH - RIGHT - 14 and len(show(tick)) > 4 else "middle"
        drawn += _rule(x.at(tick), base, x.at(tick), base + 4, "axis")
        drawn += _text(x.at(tick) + (RIGHT if anchor == "end" else 0), base + 18, show(tick), "tick", anchor)
    return drawn + _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, label, "label", "middle")


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, content: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def _chart(id: str, title: str, high: float, drawn: Sequence[str]) -> str:
    named = f"{escape(id)}-t"
    return (
        f'<svg id="{escape(id)}" class="chart" viewBox="0 0 {WIDTH} {high:g}" role="img" aria-labelledby="{named}">'
        f'<title id="{named}">{escape(title)}</title>{"".join(drawn)}</svg>'
    )
