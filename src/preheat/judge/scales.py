"""From values to positions on a chart: linear and logarithmic scales with round tick marks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

LOG_FROM = 30.0
"""Values that span more than this factor (and are all positive) are drawn on a logarithmic scale."""
_TINY = 1e-9
_MOST_POWERS = 8


@dataclass(frozen=True)
class Scale:
    """Maps ``low``..``high`` onto ``start``..``end`` (pixels; ``end`` < ``start`` for an upward axis)."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Position of ``value``, clamped to the scale's ends."""
        low, high, here = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, here = log10(low), log10(high), log10(here)
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values within the scale."""
        return _log_ticks(self.low, self.high) if self.log else _linear_ticks(self.low, self.high, about)


def linear(values: list[float], start: float, end: float, low: float | None = 0.0, high: float | None = None) -> Scale:
    """A linear scale over ``values``, from ``low`` (``None``: the least value) to a round number above the greatest."""
    least = min(values, default=0.0) if low is None else low
    greatest = max([*values, least]) if high is None else high
    if greatest - least < _TINY:
        greatest = least + 1.0
    if high is None:
        step = _step(greatest - least, 5)
        greatest = ceil(greatest / step - 1e-9) * step
    return Scale(least, greatest, start, end)


def fitting(values: list[float], start: float, end: float) -> Scale:
    """Logarithmic where positive values span a factor of :data:`LOG_FROM`, else linear from zero."""
    least, greatest = min(values, default=0.0), max(values, default=0.0)
    if least < _TINY or greatest / least < LOG_FROM:
        return linear(values, start, end)
    ticks = _log_ticks(10 ** floor(log10(least)), 10 ** ceil(log10(greatest)))
    low = max((tick for tick in ticks if tick <= least * (1 + 1e-9)), default=least)
    high = min((tick for tick in ticks if tick >= greatest * (1 - 1e-9)), default=greatest)
    return Scale(min(low, least), max(high, greatest), start, end, log=True)


def _step(span: float, about: int) -> float:
    """The round step (1, 2, 2.5, 5 times a power of ten) that divides ``span`` into at most ``about`` parts."""
    power: float = 10.0 ** floor(log10(span / about))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if span / (power * factor) <= about + 1e-9)


def _linear_ticks(low: float, high: float, about: int) -> list[float]:
    step = _step(high - low, about)
    first = ceil(low / step - 1e-9)
    digits = 10 - floor(log10(step))
    return [round(index * step, digits) for index in range(first, floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten; powers alone beyond three decades, every so many beyond eight."""
    factors = (1, 2, 5) if high / low <= 1000 else (1,)
    first, last = floor(log10(low)), ceil(log10(high))
    powers = range(first, last + 1, max(1, ceil((last - first) / _MOST_POWERS)))
    ticks = [factor * 10.0**power for power in powers for factor in factors]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
