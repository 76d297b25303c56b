"""How numbers are written for people: one place for the terminal and the HTML."""

from __future__ import annotations

from preheat.records.evidence import Comparison

ABSTAIN = "ABSTAIN"


def show(value: float | None, unit: str) -> str:
    """A value with its unit; ``ABSTAIN`` for ``None``. Shares are written in per cent."""
    if value is None:
        return ABSTAIN
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "tokens":
        return f"{value:,.0f} tokens".replace(",", " ")
    number = _digits(value)
    return f"{number} {unit}" if unit not in ("", "ratio", "0..1") else number


def show_ratio(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    """``7.24x`` or ``7.24x (6.10 to 8.31)``; ``ABSTAIN`` for ``None``."""
    if ratio is None:
        return ABSTAIN
    interval = f" ({low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    return f"{ratio:.2f}x{interval}"


def show_change(one: Comparison, interval: bool = False) -> str:
    """Cold / warm of a comparison; of two shares their difference in points, as a ratio of shares misleads."""
    if one.unit == "share":
        return ABSTAIN if one.cold is None or one.warm is None else f"{100 * (one.warm - one.cold):+.1f} points"
    return show_ratio(one.ratio, one.ratio_low, one.ratio_high) if interval else show_ratio(one.ratio)


def _digits(value: float) -> str:
    """Three significant digits under 100, none after the point from there on."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 10_000:
        return f"{value:,.0f}".replace(",", " ")
    if size >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 1 else f"{value:.3f}"
