"""Sizes and times as people write them: ``4GiB``, ``300s``, ``10m``."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from preheat.errors import BadInput

_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BYTES |= {
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "t": 2**40,
}
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|min|s|m|h|d)")

_MOST_BYTES = 2**63 - 1
_LAST_S = 253_402_300_800.0
"""The end of the year 9999, in epoch seconds."""
_FIRST_EPOCH_S = 1e9
"""In 2001; from a log's own start it would be 31 years."""
_LONGEST_SHOWN = 60


def parse_bytes(text: str) -> int:
    """``4GiB`` → 4294967296. Raises :class:`BadInput` for anything that is not a size."""
    match = _NUMBER.fullmatch(text)
    count = float(match[1]) * _BYTES.get(match[2].lower(), math.nan) if match else math.nan
    if not count <= _MOST_BYTES:
        raise BadInput(f"{_shown(text)} is not a size", "write it like 512MiB or 4GiB")
    return int(count)


def parse_seconds(text: str) -> float:
    """``300s``, ``10m``, ``1h30m``, ``2.5`` (seconds) → seconds. Raises :class:`BadInput`."""
    stripped = text.strip().lower()
    try:
        seconds = float(stripped)
    except ValueError:
        seconds = sum(float(n) * _SECONDS[unit] for n, unit in _DURATION.findall(stripped))
        if not stripped or _DURATION.sub("", stripped).strip():
            seconds = math.nan
    if not 0 <= seconds <= _LAST_S:
        raise BadInput(f"{_shown(text)} is not a duration", "write it like 300s, 10m or 1h30m")
    return seconds


def parse_time(text: str, log_start_s: float) -> float:
    """A moment in the log's own clock: ISO 8601, epoch seconds, or ``24h`` from the log's start.

    Raises :class:`BadInput`, also for what would be after the year 9999.
    """
    stripped = text.strip()
    if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", stripped) and abs(float(stripped)) <= _LAST_S:
        return float(stripped)
    if not _DURATION.sub("", stripped.lower()).strip() and stripped:
        return log_start_s + parse_seconds(stripped)
    try:
        moment = datetime.fromisoformat(stripped)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        remedy = "use ISO 8601, epoch seconds, or 24h from the log's start"
        raise BadInput(f"{_shown(text)} is not a time", remedy) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def show_bytes(count: float) -> str:
    """1536 → ``1.5 KiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        shown = f"{count:.0f}" if unit == "B" else f"{count:.1f}"
        if abs(float(shown)) < 1024 or unit == "GiB":
            return f"{shown} {unit}"
        count /= 1024
    raise AssertionError("unreachable")


def show_moment(seconds: float) -> str:
    """A moment of the log's own clock, to a tenth of a second: 19.25 → ``19.2 s``, 1700000000 →
    ``2023-11-14T22:13:20Z`` where it can but be since 1970."""
    shown = round(seconds, 1)
    if not _FIRST_EPOCH_S <= shown < _LAST_S:
        return f"{shown:.13g} s"
    whole, tenths = divmod(round(shown * 10), 10)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}" + (f".{tenths}Z" if tenths else "Z")


def show_seconds(seconds: float) -> str:
    """75 → ``1m15s``, 273600 → ``3 d 4 h``; short spans keep one decimal."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{rest:02d}s"
