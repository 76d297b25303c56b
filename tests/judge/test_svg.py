"""The chart renderer: scales, marks, and text that cannot break out."""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.judge.scales import Scale, fitting, linear
from preheat.judge.svg import Axes, Bar, Line, bars, lines, rows

VALUES = st.lists(st.floats(0, 1e9), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("high", "ticks"), [(482.0, [0, 100, 200, 300, 400, 500]), (0.9, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (3.0, [0, 1, 2, 3])]
)
def test_ticks_are_round(high: float, ticks: list[float]) -> None:
    assert linear([high], 0, 100).ticks() == ticks


def test_a_wide_span_is_logarithmic_with_1_2_5_marks() -> None:
    scale = fitting([10.0, 900.0], 0, 100)
    assert scale.log
    assert scale.ticks() == [10, 20, 50, 100, 200, 500, 1000]
    assert scale.at(100.0) == pytest.approx(50.0)
    assert not fitting([10.0, 200.0], 0, 100).log
    assert not fitting([0.0, 900.0], 0, 100).log


@given(VALUES, st.booleans())
def test_scales_keep_the_order_and_hold_their_ticks(values: list[float], fit: bool) -> None:
    scale: Scale = fitting(values, 10, 300) if fit else linear(values, 10, 300)
    places = [scale.at(value) for value in sorted(values)]
    assert all(10 - 1e-6 <= place <= 300 + 1e-6 for place in places)
    assert all(a <= b + 1e-9 for a, b in pairwise(places))
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 13
    assert all(scale.low * (1 - 1e-6) <= tick <= scale.high * (1 + 1e-6) for tick in ticks)


def number(value: float) -> str:
    return f"{value:.3g}"


AXES = Axes("x", "y", number, number)


@given(VALUES)
def test_every_chart_is_well_formed_and_in_its_frame(values: list[float]) -> None:
    points = [[float(n), value] for n, value in enumerate(values)]
    drawings = [
        bars("a", "bars", [("g", [Bar(f"n{n}", value, "l", "cold") for n, value in enumerate(values)])], "ms", number),
        rows("b", "rows", [Bar("n", value, "l", "LOADED") for value in values]),
        *(lines("c", "lines", [Line("s", points, "warm", shape, True)], AXES) for shape in ("step", "line", "points")),
    ]
    for drawing in drawings:
        root = Xml.fromstring(drawing)
        width, height = (float(part) for part in root.attrib["viewBox"].split()[2:])
        for mark in root.iter():
            for name, limit in (("x", width), ("cx", width), ("y", height), ("cy", height)):
                assert -0.1 <= float(mark.attrib.get(name, 0)) <= limit + 0.1
    assert drawings[-1].count("<circle") == len(values)


def test_text_cannot_break_out() -> None:
    evil = "</svg><script>alert('x')</script>\"onload=\"1"
    drawing = bars(evil, evil, [(evil, [Bar(evil, 1.0, evil, evil)])], evil, lambda _: evil)
    assert "<script" not in drawing
    assert len(list(Xml.fromstring(drawing).iter())) == len(re.findall(r"<[a-z]", drawing))


def test_nothing_to_draw_is_an_empty_frame() -> None:
    assert Xml.fromstring(lines("a", "empty", [Line("s", [], "cold")], AXES)) is not None
    assert Xml.fromstring(bars("a", "empty", [], "ms", number)) is not None
