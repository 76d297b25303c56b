"""Prometheus' text format, as far as an engine's counters need it."""

from __future__ import annotations

import math
import re

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_LEFT_OUT = ("_bucket", "_created")


def samples(text: str) -> list[tuple[str, dict[str, str], float]]:
    """All samples as ``(name, labels, value)``; lines that are none are passed over."""
    found: list[tuple[str, dict[str, str], float]] = []
    for line in text.splitlines():
        match = None if line.startswith("#") else _SAMPLE.match(line)
        if match is None:
            continue
        try:
            found.append((match[1], dict(_LABEL.findall(match[2] or "")), float(match[3])))
        except ValueError:
            continue
    return found


def summed(text: str) -> dict[str, float]:
    """Name → value, labels summed over; without histogram buckets, creation times and values that are not finite."""
    totals: dict[str, float] = {}
    for name, _, value in samples(text):
        if not name.endswith(_LEFT_OUT) and math.isfinite(value):
            totals[name] = totals.get(name, 0.0) + value
    return totals
