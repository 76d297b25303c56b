"""What kind of thing a difference belongs to, and how far that goes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.volatile import cause_of, reordered
from preheat.records.outcomes import BreakCause


@pytest.mark.parametrize(
    ("text", "differs", "cause", "whole"),
    [
        ("Now: 2024-01-15 10:23:45 UTC. You", "23", BreakCause.TIMESTAMP, "2024-01-15 10:23:45 UTC"),
        ("Now: 2024-01-15T10:23:45.123+01:00 You", "123", BreakCause.TIMESTAMP, "2024-01-15T10:23:45.123+01:00"),
        ("it is 9:05 pm here", "05", BreakCause.TIMESTAMP, "9:05 pm"),
        ("ts=1700000123.25 x", "123.25", BreakCause.TIMESTAMP, "1700000123.25"),
        ("Today is Monday, January 5, 2026. You", "5", BreakCause.DATE, "Monday, January 5, 2026"),
        ("am 24.12.2025 ist", "4", BreakCause.DATE, "24.12.2025"),
        ("今天是2026年11月5日，请", "5", BreakCause.DATE, "2026年11月5日"),
        (
            "id 123e4567-e89b-12d3-a456-426614174000.",
            "e89b",
            BreakCause.UUID,
            "123e4567-e89b-12d3-a456-426614174000",
        ),
        ("req req_8f3a2 end", "8f3a2", BreakCause.ID, "req_8f3a2"),
        ("trace 9f86d081884c7d659a2f end", "884c", BreakCause.ID, "9f86d081884c7d659a2f"),
        ("session: 4711\n", "711", BreakCause.ID, "session: 4711"),
        ("write to bob@x.org now", "bob", BreakCause.EMAIL, "bob@x.org"),
        ("The user's name is Anna. Be", "Anna", BreakCause.NAME, "Anna"),
        ("Hello Bob, how", "ob", BreakCause.NAME, "Bob"),
        ("用户：王小明，请", "王小明", BreakCause.NAME, "王小明"),
        ("Turn 17 of many", "17", BreakCause.NUMBER, "17"),
        ("The cat sat on", "cat", BreakCause.TEXT, "cat"),
        ("which of these is 3 times as large", "which", BreakCause.TEXT, "which"),
    ],
)
def test_telling_forms(text: str, differs: str, cause: BreakCause, whole: str) -> None:
    begin = text.rindex(differs)
    found, start, end = cause_of(text, begin, begin + len(differs))
    assert (found, text[start:end]) == (cause, whole)


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_any_place_of_any_text_has_a_cause(text: str, one: int, other: int) -> None:
    begin, end = sorted((min(one, len(text)), min(other, len(text))))
    _, start, stop = cause_of(text, begin, end)
    assert 0 <= start <= begin <= end <= stop <= len(text)


items = st.lists(st.text("abcdefgh", min_size=8, max_size=20), min_size=3, max_size=8, unique=True)


@given(items, st.randoms(use_true_random=False))
def test_lines_in_another_order_are_the_same_lines(lines: list[str], order: random.Random) -> None:
    mixed = order.sample(lines, len(lines))
    left, right = ("".join(f"{line}\n" for line in each) + "and so on" for each in (lines, mixed))
    found = reordered(left, right)
    if mixed == lines:
        assert found is None
        return
    assert found is not None
    one, other, longest = found
    assert sorted(left[:one].splitlines()) == sorted(right[:other].splitlines())
    assert left[one:] == right[other:]
    assert longest in lines


def test_members_of_json_in_another_order() -> None:
    left = '{"a": 1, "b": [2, 3], "c": {"d": "foo"}}\nrest'
    right = '{"c": {"d": "foo"}, "b": [2, 3], "a": 1}\nrest'
    assert reordered(left, right) == (40, 40, '"d": "foo"')
    assert reordered(left, right.replace("foo", "bar")) is None


def test_other_lines_are_no_order() -> None:
    assert reordered("one line here\ntwo line here\nthree line here\n", "one line here\nfour line here\nfive\n") is None
    assert reordered("a\nb\nc\n", "c\nb\na\n") is None
