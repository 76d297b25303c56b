"""Times as logs write them."""

from __future__ import annotations

from typing import Any

import pytest

from preheat.read.times import seconds


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0),
        (259_195.942, 259_195.942),
        (1_700_000_000, 1.7e9),
        (1_700_000_000_123, 1_700_000_000.123),
        (1_700_000_000_123_456, 1_700_000_000.123456),
        (1_700_000_000_123_456_789, pytest.approx(1_700_000_000.1234567)),
        ("1700000000", 1.7e9),
        ("1700000000123", 1_700_000_000.123),
        ("2023-11-14T22:13:20Z", 1.7e9),
        ("2023-11-15T06:13:20+08:00", 1.7e9),
        ("2023-11-14T22:13:20.5", 1_700_000_000.5),
        (" 2023-11-14 22:13:20 ", 1.7e9),
        ("0001-01-01T00:00:00+14:00", pytest.approx(-6.2e10, rel=0.01)),
        ("9999-12-31T23:59:59-14:00", pytest.approx(2.53e11, rel=0.01)),
    ],
)
def test_told_by_size_or_form(value: Any, expected: float) -> None:
    assert seconds(value) == expected


@pytest.mark.parametrize(
    "value", [None, True, "", "soon", "nan", float("inf"), [], {}, 10**400, "9" * 400, "9" * 5000, 1e300, -1e300]
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert seconds(value) is None
