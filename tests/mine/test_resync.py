"""Where two texts meet again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.resync import slots

TAIL = " which is followed by text that both have in common, and by enough of it."


def test_two_places_that_differ() -> None:
    left = f"Begin 17{TAIL} Then foo{TAIL}"
    right = f"Begin 4{TAIL} Then something else{TAIL}"
    found = slots(left, right, 3)
    assert [(left[s.left_begin : s.left_end], right[s.right_begin : s.right_end]) for s in found] == [
        ("17", "4"),
        ("foo", "something else"),
    ]
    assert [each.shared for each in found] == [len(TAIL) + len(" Then "), len(TAIL)]


@given(st.text("ab \n", max_size=60), st.text("cd 1", max_size=80), st.text("ef 2", max_size=80))
def test_what_is_said_to_be_shared_is(head: str, one: str, other: str) -> None:
    left, right = head + one + TAIL + one, head + other + TAIL + other
    before = None
    for slot in slots(left, right, 0):
        assert left[slot.left_end :][: slot.shared] == right[slot.right_end :][: slot.shared]
        if before is not None:
            assert slot.left_begin == before.left_end + before.shared
            assert slot.right_begin == before.right_end + before.shared
        before = slot


def test_nothing_in_common() -> None:
    assert slots("Begin" + "a b c " * 40, "Begin" + "d e f " * 40, 0) == []
