"""Numbers with a check digit: right ones are hidden wherever they stand, wrong ones stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.prompts.identity_numbers import KINDS, hide_numbers

NUMBERS = {
    "Chinese resident id": ("11010519491231002X", "11010519491231003X"),
    "payment card": ("4111 1111 1111 1111", "4111 1111 1111 1112"),
    "US social security number": ("078-05-1120", "000-05-1120"),
    "Spanish DNI and NIE": ("12345678Z", "12345678A"),
    "Brazilian CPF": ("529.982.247-25", "529.982.247-26"),
    "French NIR": ("2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
    "Italian codice fiscale": ("RSSMRA85T10A562S", "RSSMRA85T10A562T"),
    "Swiss AHV number": ("756.9217.0769.85", "756.9217.0769.84"),
    "German tax id": ("86095742719", "86095742718"),
    "Polish PESEL": ("44051401359", "44051401358"),
    "Indian Aadhaar": ("2341 2341 2346", "2341 2341 2347"),
    "Korean resident number": ("900101-1234567", "901301-1234567"),
    "Swedish personnummer": ("811218-9876", "811218-9875"),
    "Taiwanese id": ("A123456789", "A123456788"),
    "British national insurance number": ("AB 12 34 56 C", "AB 12 34 56 E"),
}
"""Examples from the authorities' own papers, and the same with one sign changed."""


def test_every_kind_has_an_example() -> None:
    assert {kind.name for kind in KINDS} == NUMBERS.keys()


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "around", ["{}", "号码{}，请查收", "Nr. {}.", '{{"id": "{}"}}', "a" * 300 + " {} " + "b" * 300]
)
def test_right_numbers_are_hidden_and_wrong_ones_stay(name: str, around: str) -> None:
    right, wrong = NUMBERS[name]
    label = next(kind.label for kind in KINDS if kind.name == name)
    assert hide_numbers(around.format(right)) == around.format(label)
    assert hide_numbers(around.format(wrong)) == around.format(wrong)


@pytest.mark.parametrize("right", [right for right, _ in NUMBERS.values()])
def test_within_a_longer_run_it_is_another_number(right: str) -> None:
    for text in (f"x{right}", f"{right}0", f"7{right}", f"{right}.5", f"{right}-7"):
        assert "[" not in hide_numbers(text), text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("DE89 3704 0044 0532 0130 00", "[iban]"),
        ("Konto DE89370400440532013000.", "Konto [iban]."),
        ("GB29 NWBK 6016 1331 9268 19 PLEASE PAY NOW", "[iban] PLEASE PAY NOW"),
        ("FR14 2004 1010 0505 0001 3M02 606 OU", "[iban] OU"),
        ("账号NO9386011117947。", "账号[iban]。"),
        ("GB28 NWBK 6016 1331 9268 19", "GB28 NWBK 6016 1331 9268 19"),
    ],
)
def test_account_numbers(text: str, hidden: str) -> None:
    assert hide_numbers(text) == hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("My passport number is P87654321.", "My passport number is [id]."),
        ("SSN: 078051120", "SSN: [id]"),
        ("护照号码：E12345678，谢谢", "护照号码：[id]，谢谢"),
        ("Steuer-ID 12 345 678 903", "Steuer-ID [id]"),
        ('"passport": "US123456789"', '"passport": "[id]"'),
        ("The passport office is at 12 Main Street.", "The passport office is at 12 Main Street."),
        ("sales tax id est 5 percent", "sales tax id est 5 percent"),
    ],
)
def test_numbers_after_their_name(text: str, hidden: str) -> None:
    assert hide_numbers(text) == hidden


@given(st.text(st.sampled_from("0123456789 .-XZA"), max_size=120), st.integers(0, 14))
def test_the_same_wherever_it_stands_in_a_text(noise: str, which: int) -> None:
    """Windows change nothing: neither what is far before nor far behind."""
    text = f"{noise} | {list(NUMBERS.values())[which][0]} | {noise}"
    far = "一二三 four, five; " * 30
    assert hide_numbers(f"{far}{text}{far}") == f"{far}{hide_numbers(text)}{far}"


@given(st.lists(st.tuples(st.integers(0, 9_999_999), st.sampled_from("+-*/=<>^%")), min_size=1, max_size=20))
def test_sums_stay(terms: list[tuple[int, str]]) -> None:
    text = " ".join(f"{number} {sign}" for number, sign in terms)
    assert hide_numbers(text) == text
