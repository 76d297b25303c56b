"""Sizes and times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.errors import BadInput
from preheat.records.units import parse_bytes, parse_seconds, parse_time, show_bytes, show_moment, show_seconds


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("17", 17),
        ("17 B", 17),
        ("4GiB", 4 * 2**30),
        (" 4 gib ", 4 * 2**30),
        ("1.5MiB", 3 * 2**19),
        ("1kB", 1000),
        ("2GB", 2 * 10**9),
        ("3k", 3072),
        ("1T", 2**40),
    ],
)
def test_sizes(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize(
    "text",
    ["", "GiB", "-1", "4 GiBs", "1e3", "0x10", "nan", "inf", "1,5GiB", "٤GiB", "9" * 400, "9" * 5000, "99999999TiB"],
)
def test_what_is_not_a_size(text: str) -> None:
    with pytest.raises(BadInput, match="is not a size"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("300s", 300.0),
        ("10m", 600.0),
        ("10min", 600.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("2.5", 2.5),
        ("0", 0.0),
        ("250ms", 0.25),
        ("2d", 172_800.0),
        ("1M30S", 90.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "s",
        "-5",
        "-5s",
        "1h30",
        "5 weeks",
        "1.5.5s",
        "nan",
        "inf",
        "9" * 400,
        "9" * 400 + "s",
        "9" * 5000,
        "1e300",
    ],
)
def test_what_is_not_a_duration(text: str) -> None:
    with pytest.raises(BadInput, match="is not a duration"):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1700000000", 1_700_000_000.0),
        ("-3.5", -3.5),
        ("24h", 1_000 + 86_400.0),
        ("1h30m", 1_000 + 5_400.0),
        ("2024-05-01T12:00:00Z", datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp()),
        ("2024-05-01T14:00:00+02:00", datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp()),
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC).timestamp()),
    ],
)
def test_moments(text: str, moment: float) -> None:
    assert parse_time(text, 1_000.0) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2024-13-01",
        "-24h",
        "24 hours",
        "nan",
        "9" * 400,
        "9" * 5000,
        "-" + "9" * 400,
        "1." + "9" * 5000 + "x",
        "1700000000000",
        "9" * 20,
    ],
)
def test_what_is_not_a_moment(text: str) -> None:
    with pytest.raises(BadInput, match="is not a time") as caught:
        parse_time(text, 0.0)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["9" * 400 + "h", "9" * 20 + "d"])
def test_a_moment_too_long_after_the_start(text: str) -> None:
    with pytest.raises(BadInput, match="is not a duration"):
        parse_time(text, 0.0)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (2**20 - 1, "1.0 MiB"),
        (2**30, "1.0 GiB"),
        (5 * 2**40, "5120.0 GiB"),
        (-1536, "-1.5 KiB"),
    ],
)
def test_sizes_shown(count: float, shown: str) -> None:
    assert show_bytes(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0 s"),
        (12.34, "12.3 s"),
        (59.97, "1m00s"),
        (75, "1m15s"),
        (3599.9, "1h00m"),
        (5400, "1h30m"),
        (86_400, "24h00m"),
        (273_600, "3 d 4 h"),
    ],
)
def test_times_shown(seconds: float, shown: str) -> None:
    assert show_seconds(seconds) == shown


@given(st.integers(0, 2**50))
def test_a_size_that_is_shown_reads_back_to_within_what_is_shown(count: int) -> None:
    assert parse_bytes(show_bytes(count)) == pytest.approx(count, rel=0.06, abs=1)


@given(st.text(max_size=12))
def test_any_text_is_a_size_or_bad_input(text: str) -> None:
    for parse in (parse_bytes, parse_seconds, lambda text: parse_time(text, 0.0)):
        try:
            assert parse(text) < float("inf")
        except BadInput:
            continue


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (19.0, "19 s"), (2.34, "2.3 s"), (1e8 + 0.25, "100000000.2 s"), (-5.0, "-5 s")],
)
def test_a_moment_is_shown_to_a_tenth_of_a_second(seconds: float, shown: str) -> None:
    assert show_moment(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (1_700_000_000.0, "2023-11-14T22:13:20Z"),
        (1_700_000_000.26, "2023-11-14T22:13:20.3Z"),
        (1_700_000_000.97, "2023-11-14T22:13:21Z"),
        (1e12, "1000000000000 s"),
    ],
)
def test_a_moment_since_1970_is_a_date_that_can_be_given_back(seconds: float, shown: str) -> None:
    assert show_moment(seconds) == shown
    if shown.endswith("Z"):
        assert parse_time(shown, 0.0) == pytest.approx(seconds, abs=0.06)
