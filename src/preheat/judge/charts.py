"""Which charts the report draws from the evidence: those for which there is something to draw."""

from __future__ import annotations

from dataclasses import dataclass

from preheat.judge.series import MOST_POINTS
from preheat.judge.svg import Axes, Bar, Line, bars, lines, rows
from preheat.records.evidence import Evidence
from preheat.records.outcomes import Outcome

SIDES = ("cold", "warm")
TTFTS = (("ttft_mean", "mean"), ("ttft_p50", "P50"), ("ttft_p95", "P95"), ("ttft_p99", "P99"))


@dataclass(frozen=True)
class Chart:
    """A drawn chart: ``svg`` is markup of our own making, ``keys`` the (class, words) of its legend."""

    id: str
    title: str
    caption: str
    svg: str
    keys: tuple[tuple[str, str], ...] = ()


def draw(evidence: Evidence) -> list[Chart]:
    """Every chart that the evidence carries, in the order of the report."""
    made = [
        _ttft(evidence),
        _ecdf(evidence),
        _over_time(evidence),
        _hits(evidence),
        _warmup(evidence),
        _outcomes(evidence),
    ]
    return [chart for chart in made if chart is not None]


def _ttft(evidence: Evidence) -> Chart | None:
    values: dict[tuple[str, str], float | None] = {}
    for side, metrics in (("cold", evidence.cold), ("warm", evidence.warm)):
        values |= {(metric.name, side): metric.value for metric in metrics}
    for one in evidence.comparisons:
        values |= {(one.name, "cold"): one.cold, (one.name, "warm"): one.warm}
    groups = []
    for name, label in TTFTS:
        told = [(side, values.get((name, side))) for side in SIDES]
        group = [Bar(f"bar.{name}.{side}", value, number(value), side) for side, value in told if value is not None]
        groups += [(label, group)] if group else []
    if not groups:
        return None
    paired = "requests that succeeded in both runs" if evidence.comparisons else "requests that got a first token"
    sides = {bar.kind for _, group in groups for bar in group}
    title = "Time to first token"
    return Chart("ttft", title, f"Over the {paired}, in ms.", bars("ttft", title, groups, "ms", number), _keys(sides))


def _ecdf(evidence: Evidence) -> Chart | None:
    series = _sided(evidence, "ttft_ecdf", "step", dots=True)
    if not series:
        return None
    title = "How many requests got their first token in time"
    axes = Axes("time to first token (ms)", "share of requests", number, _percent, y_high=1.0, fit_x=True)
    caption = "Share of the requests that had their first token by then (further left is better)."
    return Chart("ecdf", title, caption, lines("ecdf", title, series, axes), _keys({line.kind for line in series}))


def _over_time(evidence: Evidence) -> Chart | None:
    series = _sided(evidence, "ttft_over_time", "points")
    if not series:
        return None
    title = "Time to first token, request by request"
    axes = Axes("seconds since the replay began", "ms", number, number, fit_y=True)
    thinned = any(len(line.points) == MOST_POINTS for line in series)
    who = f"At most {MOST_POINTS} of the requests, evenly chosen" if thinned else "One mark a request"
    caption = f"{who}, at the time it was due: rings cold, dots warm."
    return Chart(
        "over-time", title, caption, lines("over-time", title, series, axes), _keys({line.kind for line in series})
    )


def _hits(evidence: Evidence) -> Chart | None:
    series = _sided(evidence, "hit_rate_rolling", "line")
    if not series:
        return None
    title = "Cache hit rate as traffic arrives"
    axes = Axes("seconds since the replay began", "tokens from cache / prompt tokens", number, _percent, y_high=1.0)
    caption = "Over the last 20 requests at each point, by the engine's own word."
    return Chart(
        "hit-rate", title, caption, lines("hit-rate", title, series, axes), _keys({line.kind for line in series})
    )


def _warmup(evidence: Evidence) -> Chart | None:
    points = evidence.series.get("warmup_tokens")
    if not points:
        return None
    distinct = next((metric.value for metric in evidence.warmup if metric.name == "distinct_tokens"), None)
    reference = (distinct, f"the plan's distinct tokens: {number(distinct)}") if distinct else None
    title = "The warm-up, item by item"
    axes = Axes("seconds of work on the items", "tokens computed so far", number, number, reference=reference)
    line = Line("warmup_tokens", points, "warm", "line", dots=True)
    caption = "Tokens the engine computed for the warm-up, probes included. Work is counted one item after the other."
    return Chart("warm-up", title, caption, lines("warm-up", title, [line], axes))


def _outcomes(evidence: Evidence) -> Chart | None:
    if not evidence.outcomes:
        return None
    counts = [(outcome.value, evidence.outcomes.get(outcome.value, 0)) for outcome in Outcome]
    items = [Bar(f"outcome.{name}", float(count), str(count), name) for name, count in counts]
    title = "What became of the planned items"
    caption = f"Of {sum(evidence.outcomes.values())} items in the plan, by the engine's word at the first probe."
    return Chart("outcomes", title, caption, rows("outcomes", title, items))


def _sided(evidence: Evidence, name: str, shape: str, dots: bool = False) -> list[Line]:
    found = ((side, evidence.series.get(f"{name}_{side}")) for side in SIDES)
    return [Line(f"{name}_{side}", points, side, shape, dots) for side, points in found if points]


def _keys(sides: set[str]) -> tuple[tuple[str, str], ...]:
    words = {"cold": "cold replica", "warm": "warmed replica"}
    return tuple((side, words[side]) for side in SIDES if side in sides)


def number(value: float) -> str:
    """Three digits at most, so that it fits on a chart: 4 200 000 is ``4.2M``."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if suffix == "k" else size
            return f"{value / unit:.3g}{suffix}" if abs(value) < 1000 * unit else f"{value / unit:.0f}{suffix}"
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 1000 else f"{value:.3g}"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
