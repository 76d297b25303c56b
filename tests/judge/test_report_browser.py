"""The report in a real browser: what is drawn against what evidence.json says."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_runs import plan, traffic, warm_run
from msgspec.structs import replace
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from preheat.judge.fail_on import fail_on
from preheat.judge.judge import judge
from preheat.judge.redundancy import LaterPrompt, redundancy
from preheat.judge.report_html import write_report
from preheat.judge.values import show, show_ratio
from preheat.records.outcomes import Outcome

pytestmark = [pytest.mark.heavy, pytest.mark.browser]

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"),
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        missing = "chromium and chromedriver are needed to open the report (apt-get install chromium chromium-driver)"
        if os.environ.get("CI") == "true" or os.environ.get("PREHEAT_REQUIRE_ENGINES") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    options = Options()
    options.binary_location = binary
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    whole = plan()
    later = [LaterPrompt(86_400.0 + n, (whole.items[n % 6].text or "") + "?") for n in range(50)]
    told = judge(
        cold=traffic(False),
        warm=traffic(True),
        warm_run=warm_run(),
        plan=whole,
        redundancy=redundancy(whole.items, later, start_s=86_400.0),
        title="Monday & <Tuesday>",
    )
    data, page = write_report(fail_on(told, "ttft_mean_ratio<1.5"), tmp_path_factory.mktemp("report"))
    return json.loads(data.read_text()), page


def open_page(browser: webdriver.Chrome, page: Path, scheme: str = "light", width: int = 1240) -> None:
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())


def marks(browser: webdriver.Chrome, selector: str) -> list[dict[str, Any]]:
    """Name, value, text and drawn box of everything that ``selector`` finds."""
    found: list[dict[str, Any]] = browser.execute_script(
        """return [...document.querySelectorAll(arguments[0])].map((mark) => {
             const box = mark.getBBox ? mark.getBBox() : {x: 0, y: 0, width: 0, height: 0};
             return {name: mark.dataset.name, value: mark.dataset.value, x: mark.dataset.x, text: mark.textContent,
                     box: {x: box.x, y: box.y, width: box.width, height: box.height}};
           })""",
        selector,
    )
    return found


def test_the_numbers_on_the_page_are_those_of_the_evidence(
    browser: webdriver.Chrome, report: tuple[dict[str, Any], Path]
) -> None:
    evidence, page = report
    open_page(browser, page)
    shown = {mark["name"]: mark for mark in marks(browser, "td[data-name], span[data-name], p[data-name]")}
    assert shown["headline"]["text"] == evidence["headline"]
    assert browser.title == "Monday & <Tuesday>"
    for one in evidence["comparisons"]:
        for side in ("cold", "warm"):
            mark = shown[f"comparison.{one['name']}.{side}"]
            assert float(mark["value"]) == one[side]
            assert mark["text"].strip() == show(one[side], one["unit"])
        if one["unit"] == "share":
            points = shown[f"comparison.{one['name']}.points"]
            assert float(points["value"]) == pytest.approx(100 * (one["warm"] - one["cold"]))
            assert points["text"].strip() == f"{100 * (one['warm'] - one['cold']):+.1f} points"
            continue
        ratio = shown[f"comparison.{one['name']}.ratio"]
        assert float(ratio["value"]) == one["ratio"]
        assert ratio["text"].strip() == show_ratio(one["ratio"])
    for side in ("cold", "warm", "warmup"):
        for metric in evidence[side]:
            mark = shown[f"{side}.{metric['name']}"]
            assert mark["text"].strip() == show(metric["value"], metric["unit"])
            assert mark["value"] == ("" if metric["value"] is None else str(metric["value"]))
    text = browser.find_element("tag name", "main").text
    for part in (*evidence["notes"], *evidence["commands"], *evidence["skipped"], *evidence["facts"].values()):
        assert part in text
    for one in (*evidence["comparisons"], *evidence["warmup"]):
        assert one["denominator"] in text
        assert one["formula"] in text
    for name, kept in evidence["promises"].items():
        assert f"{name}: {'kept' if kept else 'missed'}" in text


def test_bars_are_as_high_as_their_values(browser: webdriver.Chrome, report: tuple[dict[str, Any], Path]) -> None:
    evidence, page = report
    open_page(browser, page)
    bars = {mark["name"]: mark for mark in marks(browser, "#ttft rect.bar")}
    expected = {
        f"bar.{one['name']}.{side}": one[side]
        for one in evidence["comparisons"]
        if one["name"] in ("ttft_mean", "ttft_p50", "ttft_p95", "ttft_p99")
        for side in ("cold", "warm")
    }
    assert {name: float(mark["value"]) for name, mark in bars.items()} == expected
    scales = {bars[name]["box"]["height"] / value for name, value in expected.items()}
    assert min(scales) == pytest.approx(max(scales), rel=1e-3)
    bottoms = {mark["box"]["y"] + mark["box"]["height"] for mark in bars.values()}
    assert min(bottoms) == pytest.approx(max(bottoms), abs=0.01)
    rows = {mark["name"]: mark for mark in marks(browser, "#outcomes rect.bar")}
    counts = {name.removeprefix("outcome."): float(mark["value"]) for name, mark in rows.items()}
    assert {name: count for name, count in counts.items() if count} == evidence["outcomes"]
    unit = rows["outcome.MISSING"]["box"]["width"]
    for name, mark in rows.items():
        assert mark["box"]["width"] == pytest.approx(unit * counts[name.removeprefix("outcome.")], abs=0.05)


@pytest.mark.parametrize(
    ("chart", "series"),
    [
        ("ecdf", "ttft_ecdf_cold"),
        ("ecdf", "ttft_ecdf_warm"),
        ("over-time", "ttft_over_time_cold"),
        ("over-time", "ttft_over_time_warm"),
        ("warm-up", "warmup_tokens"),
    ],
)
def test_every_point_is_drawn_where_it_belongs(
    browser: webdriver.Chrome, report: tuple[dict[str, Any], Path], chart: str, series: str
) -> None:
    evidence, page = report
    open_page(browser, page)
    dots = marks(browser, f"#{chart} circle[data-name={series}]")
    points = evidence["series"][series]
    assert len(dots) == len(points)
    places = []
    for dot, (x, y) in zip(dots, points, strict=True):
        assert float(dot["x"]) == pytest.approx(x, rel=1e-4)
        assert float(dot["value"]) == pytest.approx(y, rel=1e-4)
        box = dot["box"]
        places.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    for axis in (0, 1):  # on linear axes drawn places are an affine image of the values
        values, drawn = [point[axis] for point in points], [place[axis] for place in places]
        low, high = values.index(min(values)), values.index(max(values))
        slope = (drawn[high] - drawn[low]) / (values[high] - values[low])
        assert (slope > 0) is (axis == 0)
        for value, place in zip(values, drawn, strict=True):
            assert place == pytest.approx(drawn[low] + slope * (value - values[low]), abs=0.15)


def test_a_line_has_a_vertex_for_every_point(browser: webdriver.Chrome, report: tuple[dict[str, Any], Path]) -> None:
    evidence, page = report
    open_page(browser, page)
    for side in ("cold", "warm"):
        path = browser.execute_script(
            "return document.querySelector(arguments[0]).getAttribute('d')",
            f"#hit-rate path[data-name=hit_rate_rolling_{side}]",
        )
        assert path.count("L") + 1 == len(evidence["series"][f"hit_rate_rolling_{side}"])


def test_light_and_dark_by_preference_and_by_the_button(
    browser: webdriver.Chrome, report: tuple[dict[str, Any], Path]
) -> None:
    _, page = report
    background = "return getComputedStyle(document.body).backgroundColor"
    colours = {}
    for scheme in ("light", "dark"):
        open_page(browser, page, scheme)
        colours[scheme] = browser.execute_script(background)
        ratio = browser.execute_script(CONTRAST)
        assert ratio >= 4.5, (scheme, ratio)
    assert colours["light"] != colours["dark"]
    browser.find_element("id", "theme").click()
    assert browser.execute_script(background) == colours["light"]
    browser.find_element("id", "theme").click()
    assert browser.execute_script(background) == colours["dark"]


CONTRAST = """
const numbers = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((one) => {
  const part = one / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
const light = (colour) => numbers(colour).reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
const card = light(getComputedStyle(document.querySelector('figure')).backgroundColor);
const contrast = (one) => (Math.max(one, card) + 0.05) / (Math.min(one, card) + 0.05);
const inks = [...document.querySelectorAll('figure h3, figure p, .figure p, .keys span, td, th small')]
  .map((mark) => getComputedStyle(mark).color)
  .concat([...document.querySelectorAll('svg text')].map((mark) => getComputedStyle(mark).fill));
return Math.min(...inks.map((ink) => contrast(light(ink))));
"""

OVERLAPS = """
return [...document.querySelectorAll('svg.chart')].flatMap((chart) => {
  const boxes = [...chart.querySelectorAll('text')].map((text) => [text.textContent, text.getBBox()]);
  const view = chart.viewBox.baseVal, found = [];
  boxes.forEach(([a, p], n) => {
    if (p.x < -0.5 || p.y < -0.5 || p.x + p.width > view.width + 0.5 || p.y + p.height > view.height + 0.5)
      found.push(`${chart.id}: ${a} leaves the chart`);
    boxes.slice(n + 1).forEach(([b, q]) => {
      if (p.x + p.width > q.x + 1 && q.x + q.width > p.x + 1 && p.y + p.height > q.y + 4 && q.y + q.height > p.y + 4)
        found.push(`${chart.id}: ${a} over ${b}`); }); });
  return found; });
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thousands of requests whose times span four decades, a warm-up of millions of tokens, every outcome."""
    cold, warm = traffic(False, 3000), traffic(True, 3000)
    slow = [
        replace(one, ttft_ms=(one.ttft_ms or 0) * (1000 if n % 5 == 0 else 1)) for n, one in enumerate(cold.requests)
    ]
    items = [replace(item, computed_tokens=123_456, status=status) for item in warm_run().items for status in Outcome]
    told = judge(
        cold=replace(cold, requests=slow),
        warm=warm,
        warm_run=replace(warm_run(), items=items, distinct_tokens=9_000_000),
        title="long " * 30,
    )
    return write_report(told, tmp_path_factory.mktemp("large"))[1]


@pytest.mark.parametrize("which", ["report", "large"])
@pytest.mark.parametrize("width", [360, 768, 1240])
def test_it_is_legible_at_every_width(
    browser: webdriver.Chrome, report: tuple[dict[str, Any], Path], large: Path, width: int, which: str
) -> None:
    page = report[1] if which == "report" else large
    open_page(browser, page, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OVERLAPS) == []
    sizes = browser.execute_script(
        """return [...document.querySelectorAll('svg text')].map((text) =>
             parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
    )
    assert min(sizes) >= 9.5


def test_every_chart_has_a_name_for_those_who_do_not_see_it(
    browser: webdriver.Chrome, report: tuple[dict[str, Any], Path]
) -> None:
    _, page = report
    open_page(browser, page)
    names = browser.execute_script(
        """const named = (chart) => document.getElementById(chart.getAttribute('aria-labelledby')).textContent;
           return [...document.querySelectorAll('svg')].map((one) => one.getAttribute('role') + ' ' + named(one))"""
    )
    assert len(names) == 6
    assert len(set(names)) == 6
    assert all(name.startswith("img ") and len(name) > 12 for name in names)


def test_no_request_no_error_no_megabyte(browser: webdriver.Chrome, report: tuple[dict[str, Any], Path]) -> None:
    _, page = report
    browser.get("about:blank")
    for name in ("browser", "performance"):
        browser.get_log(name)
    open_page(browser, page)
    browser.find_element("id", "theme").click()
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in asked
    assert [url for url in asked if url != page.as_uri() and not url.startswith("data:")] == []
    assert page.stat().st_size < 1 << 20
