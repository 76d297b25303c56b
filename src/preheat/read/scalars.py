"""Numbers and names as logs write them: whatever a record holds in their place, never an error."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec

LARGEST_COUNT = 2**53
"""Whole numbers beyond it are no counts of tokens, and no JSON reader has to keep them exact (RFC 8259, 6)."""
Count = Annotated[int, msgspec.Meta(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]


def as_number(value: Any) -> float | None:
    """A finite number; ``None`` for anything else, and for a number that a float cannot hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_whole(number: float | None) -> int | None:
    """A whole number of at most :data:`LARGEST_COUNT`; ``None`` for any other."""
    return int(number) if number is not None and number.is_integer() and abs(number) <= LARGEST_COUNT else None


def as_name(value: Any) -> str | None:
    """Text that is not empty, or a number taken as a name; ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    try:
        return str(value)
    except ValueError:  # Python writes out no number of more than 4300 digits
        return None
