"""Prompts that part, redacted before they are cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from preheat.prompts.parting import Redacted, apart
from preheat.prompts.redaction import redact, redact_cut

CARD, OTHER_CARD = "4111 1111 1111 1111", "4111 1111 1111 1129"


def parted(left: str, right: str) -> tuple[str, list[str], str]:
    """Cut at the first character that differs."""
    cut = next(place for place, (one, other) in enumerate(zip(left, right, strict=False)) if one != other)
    return apart(left[:cut], [(left[cut:], ""), (right[cut:], "")], begun=False)


@pytest.mark.parametrize(
    ("left", "right", "mark"),
    [
        ("The password: hunter2xyz is it.", "The password: swordfish9 is it.", "[key]"),
        ("The password: hunter2xyz is it.", "The password: hunter77 is it.", "[key]"),
        ("My phone is +49 171 2223344, ring.", "My phone is +49 171 9998877, ring.", "[phone]"),
        ("My phone is +49 171 2223344, ring.", "My phone is +49 30 9998877, ring.", "[phone]"),
        (f"Card {CARD} please.", f"Card {OTHER_CARD} please.", "[card]"),
        (f"Card {CARD.replace(' ', '')} please.", f"Card {OTHER_CARD.replace(' ', '')} please.", "[card]"),
        ("Write to anna@example.org today.", "Write to annette@example.org today.", "[email]"),
    ],
)
def test_what_parts_within_a_secret_shows_its_mark_on_both_sides(left: str, right: str, mark: str) -> None:
    before, shown, _ = parted(left, right)
    assert [text[: len(mark)] for text in shown] == [mark, mark]
    assert before + shown[0] == redact(left)
    assert before + shown[1] == redact(right)
    assert mark not in before


def test_what_only_one_side_has_as_a_secret_is_shown_on_neither() -> None:
    card, none = CARD.replace(" ", ""), OTHER_CARD.replace(" ", "")[:-1] + "8"
    before, shown, _ = parted(f"Card {card} please.", f"Card {none} please.")
    assert (before, shown) == ("Card ", ["[card] please.", "[card] please."])


def test_what_comes_after_is_redacted_with_what_stands_before_it() -> None:
    variants = [("Monday, password:", " hunter2xyz and more"), ("Friday, password:", " hunter2xyz and more")]
    assert apart("It is ", variants, begun=False) == (
        "It is ",
        ["Monday, password:", "Friday, password:"],
        " [key] and more",
    )


def test_the_end_of_a_longer_text_may_begin_with_half_a_secret() -> None:
    before, shown, _ = apart("fish9secret and ", [("this", ""), ("that", "")], begun=True)
    assert (before, shown) == ("[…] and ", ["this", "that"])


pieces = st.sampled_from(
    ["password: hunter2xyz", "phone is +49 171 2223344", CARD, "anna@example.org", " ", ", ", "so", "[key]", "\n", "7"]
)


texts = st.lists(pieces, max_size=5).map("".join)


@given(texts, texts, texts)
def test_what_either_side_hides_is_not_shown_before_them(head: str, one: str, other: str) -> None:
    assume(one[:1] != other[:1])
    before, shown, _ = apart(head, [(one, ""), (other, "")], begun=False)
    for text, variant in zip(shown, (one, other), strict=True):
        whole = redact_cut(head + variant)
        assert whole.startswith(before.rstrip())
        assert whole.endswith(text) or whole.endswith(re.sub(r"^\[[a-z…]+\]", "", text))


@given(st.lists(pieces, max_size=8).map("".join))
def test_places_are_in_order_and_never_within_a_mark(text: str) -> None:
    redacted = Redacted(text)
    places = [redacted.place(at) for at in range(len(redacted.text) + 1)]
    assert places == sorted(places)
    for _, (begin, end) in redacted.hidden:
        assert not any(begin < place < end for place in places)
