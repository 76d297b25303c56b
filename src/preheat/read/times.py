"""Times as logs write them, to seconds in the log's own clock."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from preheat.read.scalars import as_number
from preheat.records.request import ReadReport

_LAST_NS = 253_402_300_800e9
"""The end of the year 9999, in the smallest unit."""
_LEAST_MS = 1e11
_UNITS = ((1e17, 1e9, "ns"), (1e14, 1e6, "us"), (_LEAST_MS, 1e3, "ms"))
"""From which size on a number cannot but be in this unit; how many of it are a second."""


def seconds(value: Any) -> float | None:
    """Number (s; epoch ms, µs or ns told by their size), numeric text, ISO 8601 or a time → seconds; else ``None``.

    A size of 1e11 and more cannot be seconds (the year 5138), and epoch milliseconds have been above 1e11 since
    1973; so each unit owns three decades. Milliseconds counted from a log's own start cannot be told from seconds.
    ISO 8601 without a zone is taken as UTC. What would be after the year 9999 is no time.
    """
    return _read(value)[0]


def time_of(value: Any, report: ReadReport) -> float | None:
    """The same, and how it is written is counted in ``report``."""
    time_s, unit = (value, "s") if value.__class__ is float and -_LEAST_MS < value < _LEAST_MS else _read(value)
    if time_s is not None:
        report.time_units[unit] = report.time_units.get(unit, 0) + 1
    return time_s


def first_time(values: Iterable[Any], report: ReadReport) -> float | None:
    """The first of ``values`` that is a time, see :func:`time_of`."""
    return next((time_s for value in values if (time_s := time_of(value, report)) is not None), None)


def _read(value: Any) -> tuple[float | None, str]:
    """Seconds, and the unit that they were written in."""
    if isinstance(value, float | int):
        return _scaled(value) if type(value) is float else _scaled(as_number(value))
    if isinstance(value, datetime):
        return _moment(value)
    if not isinstance(value, str):
        return None, ""
    try:
        return _scaled(float(value))
    except ValueError:
        pass
    try:
        return _moment(datetime.fromisoformat(value.strip()))
    except ValueError:
        return None, ""


def _moment(moment: datetime) -> tuple[float | None, str]:
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), "ISO 8601"
    except (ValueError, OverflowError):
        return None, ""


def _scaled(number: float | None) -> tuple[float | None, str]:
    if number is None or not math.isfinite(number) or abs(number) > _LAST_NS:
        return None, ""
    for least, divisor, unit in _UNITS:
        if abs(number) >= least:
            return number / divisor, unit
    return number, "s"
