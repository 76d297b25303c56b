"""Times as logs write them, to seconds in the log's own clock."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from preheat.read.scalars import as_number

_LAST_NS = 253_402_300_800e9
"""The end of the year 9999, in the smallest unit."""


def seconds(value: Any) -> float | None:
    """Number (s; epoch ms, µs or ns told by their size), numeric text or ISO 8601 → seconds; ``None`` if neither.

    A size of 1e11 and more cannot be seconds (the year 5138), and epoch milliseconds have been above 1e11 since
    1973; so each unit owns three decades. Milliseconds counted from a log's own start cannot be told from seconds.
    ISO 8601 without a zone is taken as UTC. What would be after the year 9999 is no time.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = as_number(value)
        return None if number is None else _scaled(number)
    if not isinstance(value, str):
        return None
    try:
        return _scaled(float(value))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _scaled(number: float) -> float | None:
    if not math.isfinite(number):
        return None
    if abs(number) > _LAST_NS:
        return None
    for least, divisor in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if abs(number) >= least:
            return number / divisor
    return number
