"""What the log holds, in a real browser: drawn against what the insight says, legible, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_insights import insight
from selenium import webdriver
from test_report_browser import CONTRAST, OVERLAPS, browser, marks, open_page

from preheat.judge.report_html import render_log

__all__ = ["browser"]
pytestmark = [pytest.mark.heavy, pytest.mark.browser]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.html"
    path.write_text(render_log(insight(), "What the log holds", "2026-01-01T00:00:00+00:00"), encoding="utf-8")
    return path


def test_hubs_and_hours_are_those_of_the_insight(browser: webdriver.Chrome, page: Path) -> None:
    open_page(browser, page)
    found = insight()
    assert found.topology is not None
    hubs = {mark["name"]: float(mark["value"]) for mark in marks(browser, "#topology .hub rect")}
    assert hubs == {f"hub.{hub.token}": hub.rank for hub in found.topology.hubs}
    bars = marks(browser, "#hours rect.bar")
    assert [float(bar["value"]) for bar in bars] == found.hours
    scales = {bar["box"]["height"] / float(bar["value"]) for bar in bars}
    assert min(scales) == pytest.approx(max(scales), rel=1e-3)


def test_each_label_is_inside_its_box(browser: webdriver.Chrome, page: Path) -> None:
    open_page(browser, page)
    outside = browser.execute_script(
        """return [...document.querySelectorAll('#topology .hub')].filter((hub) => {
             const box = hub.querySelector('rect').getBBox(), text = hub.querySelector('text').getBBox();
             return text.x < box.x || text.x + text.width > box.x + box.width; }).map((hub) => hub.textContent)"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [360, 768, 1240])
def test_it_is_legible_at_every_width(browser: webdriver.Chrome, page: Path, width: int) -> None:
    open_page(browser, page, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OVERLAPS) == []
    sizes = browser.execute_script(
        """return [...document.querySelectorAll('svg text')].map((text) =>
             parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
    )
    assert min(sizes) >= 9.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser: webdriver.Chrome, page: Path, scheme: str) -> None:
    open_page(browser, page, scheme)
    on_boxes = CONTRAST.replace(
        "document.querySelectorAll('svg text')", "document.querySelectorAll('svg :not(.h0) > text')"
    )
    assert browser.execute_script(on_boxes) >= 4.5
    filled = """
const numbers = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((one) => {
  const part = one / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
const light = (colour) => numbers(colour).reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
const behind = light(getComputedStyle(document.querySelector('.hub.h0 rect')).fill);
const ink = light(getComputedStyle(document.querySelector('.hub.h0 text')).fill);
return (Math.max(ink, behind) + 0.05) / (Math.min(ink, behind) + 0.05);
"""
    assert browser.execute_script(filled) >= 4.5


def test_the_picture_has_a_name_and_a_description(browser: webdriver.Chrome, page: Path) -> None:
    open_page(browser, page)
    said = browser.execute_script(
        """const chart = document.getElementById('topology');
           return ['aria-labelledby', 'aria-describedby'].map((one) =>
             document.getElementById(chart.getAttribute(one)).textContent)"""
    )
    assert said[0] == "How tokens flow"
    assert said[1].startswith("Strongest flows: ")
    assert browser.get_log("browser") == []
