"""Phone numbers of many countries, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.prompts.phone_numbers import hide_phones


@pytest.mark.parametrize(
    "number",
    [
        *("+1 (415) 555-2671", "415-555-2671", "(415) 555-2671", "1-800-555-0199", "+14155552671"),
        *("+49 30 901820123", "030 901820123", "0171/1234567", "0171 1234567", "(030) 90182 0123", "0049 30 901820"),
        *("+33 1 23 45 67 89", "01 23 45 67 89", "+34 612 345 678", "+39 06 1234 5678", "06 1234 5678"),
        *("+44 20 7946 0958", "020 7946 0958", "07700 900123", "0800 123 4567"),
        *("13800138000", "138 0013 8000", "+86 138 0013 8000", "86-13800138000", "010-12345678", "0755-88888888"),
        *("(+86) 138 0013 8000", "400-820-8820", "03-1234-5678", "090-1234-5678", "010-1234-5678", "0912-345-678"),
        *("(11) 91234-5678", "+55 11 91234-5678", "+91 98765 43210", "0412 345 678", "(02) 9876 5432"),
    ],
)
def test_numbers_of_many_countries(number: str) -> None:
    for around in ("{}", "请拨打{}。", "number: {}, or", "<{}>", "({}", "a" * 300 + " {}\n" + "b" * 300):
        assert hide_phones(around.format(number)) == around.format("[phone]")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Call me at 555 1234.", "Call me at [phone]."),
        ("电话是67010327。", "电话是[phone]。"),
        ("teléfono: 612 345 678", "teléfono: [phone]"),
        ('"phone": "1801728040"', '"phone": "[phone]"'),
        ("Tel. 98765 43210", "Tel. [phone]"),
        ("手机号码 139-1234-5678", "手机号码 [phone]"),
        ("Handy 01711234567", "Handy [phone]"),
    ],
)
def test_numbers_that_a_word_announces(text: str, hidden: str) -> None:
    assert hide_phones(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-02 2024-01-02T03:04:05 02.01.2024 05-06-2024 10:30 09-10-2024 12 people 20240102",
        "1700000000 1700000000123 1234567 x = 12345678901 1,234,567,890",
        "01 02 03 04 05 06 and 01 02 03 04 05 and 1 2 3 4 5 6 7 8 9",
        "612 345 678 is a large number; so is 98765 43210",
        '"headphones": "6992792935" hotel: 1234567890',
        "The mobile game sold 12000000 copies; the phone costs 1,234,567",
        'hotel, "dob": "1980-12-03" tel, 1980-12-03',
        "0.12345678 3.14159265358979 10.0.0.1:8080 192.168.100.100 1.2.3-4567890",
        "550e8400-e29b-41d4-a716-446655440000 ISBN 978-3-16-148410-0",
        "f(10) 12345 + f(20) 12345, pages 0123-0456, 08:30-09:30",
        "a call of f(1234567) 1 + 1234567",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert hide_phones(text) == text


@given(st.lists(st.tuples(st.integers(0, 9_999_999), st.sampled_from("+-*/=<>^%")), min_size=1, max_size=20))
def test_sums_stay(terms: list[tuple[int, str]]) -> None:
    text = " ".join(f"{number} {sign}" for number, sign in terms)
    assert hide_phones(text) == text


@given(st.datetimes())
def test_dates_stay(moment: object) -> None:
    for text in (f"{moment}", f"at {moment:%d-%m-%Y %H:%M}", f"{moment:%Y/%m/%d}", f"{moment:%d.%m.%Y}"):
        assert hide_phones(text) == text


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_number_is_found_whatever_surrounds_it(before: str, after: str) -> None:
    shown = hide_phones(f"{before} 电话 +49 30 901820123 。{after}")
    assert "901820123" not in shown.replace(before, "").replace(after, "")
