"""Numbers that name a person, an account or a card, known by their form and, where they have one, their check digit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from preheat.prompts.windows import around


class Kind(NamedTuple):
    """One kind of number: ``label`` stands in its place where ``is_one`` agrees with the form."""

    label: str
    name: str
    form: re.Pattern[str]
    is_one: Callable[[str], bool] = bool

    def hide(self, match: re.Match[str]) -> str:
        """The label, or what was found."""
        return self.label if self.is_one(match[0]) else match[0]


def hide_numbers(text: str) -> str:
    """``text`` with ``[id]``, ``[iban]`` and ``[card]`` in place of such numbers."""
    text = around(text, _RUN, 24, 8, _hide)
    if any(word in text for word in _NAMES):
        text = _NAMED.sub(lambda match: f"{match[1]}[id]" if len(_digits(match[2])) >= 5 else match[0], text)
    return text


def _hide(text: str) -> str:
    for kind in KINDS:
        text = kind.form.sub(kind.hide, text)
    return _IBAN.sub(_hide_iban, text)


def _digits(found: str) -> list[int]:
    return [int(character) for character in found if character.isdigit()]


def _luhn(digits: list[int]) -> bool:
    """ISO/IEC 7812-1, annex B."""
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _weighted(digits: list[int], weights: str, modulus: int) -> int:
    return sum(digit * int(weight, 16) for digit, weight in zip(digits, weights, strict=False)) % modulus


def _is_card(found: str) -> bool:
    """13-19 digits, the first of a card scheme (2-6), Luhn's check."""
    digits = _digits(found)
    return digits[0] in (2, 3, 4, 5, 6) and 13 <= len(digits) <= 19 and len(set(digits)) > 1 and _luhn(digits)


def _is_date(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


def _is_chinese(found: str) -> bool:
    """GB 11643-1999 (ISO 7064, MOD 11-2)."""
    rest = _weighted(_digits(found[:17]), "79a584216379a5842", 11)
    return "10X98765432"[rest] == found[-1].upper()


def _is_spanish(found: str) -> bool:
    """DNI, NIE: a letter for the number modulo 23 (Orden INT/2058/2008)."""
    number = found.upper().replace("-", "").replace(".", "").replace(" ", "")
    number = {"X": "0", "Y": "1", "Z": "2"}.get(number[0], number[0]) + number[1:]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number[:-1]) % 23] == number[-1]


def _is_german(found: str) -> bool:
    """Steuer-ID: ISO 7064, MOD 11,10; of the first ten digits one comes twice or thrice and no other again."""
    digits = _digits(found)
    often = sorted((digits[:10].count(digit) for digit in set(digits[:10])), reverse=True)
    if often[0] not in (2, 3) or often[1] != 1:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def _is_polish(found: str) -> bool:
    """PESEL: date of birth (the century in the month), weights 1 3 7 9."""
    digits = _digits(found)
    month = (10 * digits[2] + digits[3]) % 20
    return _is_date(month, 10 * digits[4] + digits[5]) and _weighted(digits, "13791379131", 10) == 0


def _is_brazilian(found: str) -> bool:
    """CPF: two check digits modulo 11."""
    digits = _digits(found)

    def check(count: int) -> int:
        rest = sum(digit * weight for digit, weight in zip(digits, range(count + 1, 1, -1), strict=False)) * 10 % 11
        return rest % 10

    return len(set(digits)) > 1 and check(9) == digits[9] and check(10) == digits[10]


def _is_french(found: str) -> bool:
    """NIR: 97 less the number modulo 97; Corsica's 2A and 2B count as 19 and 18."""
    number = re.sub(r"\s", "", found).upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(number[:13]) % 97 == int(number[13:])


def _is_italian(found: str) -> bool:
    """Codice fiscale: D.M. 23 December 1976."""
    odd = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", _ODD, strict=True))
    even = {sign: number % 26 if sign.isalpha() else int(sign) for number, sign in enumerate(_EVEN_SIGNS)}
    total = sum(odd[sign] if place % 2 == 0 else even[sign] for place, sign in enumerate(found[:15]))
    return chr(ord("A") + total % 26) == found[15]


_ODD_LETTERS = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_ODD = (*_ODD_LETTERS[:10], *_ODD_LETTERS)
_EVEN_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _is_indian(found: str) -> bool:
    """Aadhaar: Verhoeff's check, over the dihedral group of order 10."""
    check = 0
    for place, digit in enumerate(reversed(_digits(found))):
        for _ in range(place % 8):
            digit = _TURN[digit]
        check = _dihedral(check, digit)
    return check == 0


_TURN = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def _dihedral(left: int, right: int) -> int:
    if left < 5:
        return (left + right) % 5 if right < 5 else (left + right - 5) % 5 + 5
    return (left - 5 - right) % 5 + 5 if right < 5 else (left - right) % 5


def _is_korean(found: str) -> bool:
    digits = _digits(found)
    return _is_date(10 * digits[2] + digits[3], 10 * digits[4] + digits[5])


def _is_swedish(found: str) -> bool:
    """Personnummer: Luhn over the last ten digits; 60 is added to the day of a coordination number."""
    digits = _digits(found)[-10:]
    return _is_date(10 * digits[2] + digits[3], (10 * digits[4] + digits[5]) % 60) and _luhn(digits)


def _is_swiss(found: str) -> bool:
    """AHV: the check digit of EAN-13."""
    return _weighted(_digits(found), "1313131313131", 10) == 0


def _is_taiwanese(found: str) -> bool:
    """A letter that stands for two digits, then weights 8 to 1 and the check digit."""
    number = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(found[0]) + 10
    return (number // 10 + number % 10 * 9 + _weighted(_digits(found[1:]), "876543211", 10)) % 10 == 0


def _kind(label: str, name: str, form: str, is_one: Callable[[str], bool] = bool) -> Kind:
    """No such number stands within a longer run of letters, digits or points."""
    return Kind(label, name, re.compile(rf"(?<![\w.])(?<!\d-)(?:{form})(?![-.]?\w)", re.ASCII), is_one)


KINDS = (
    _kind(
        "[id]",
        "Chinese resident id",
        r"[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[0-9Xx]",
        _is_chinese,
    ),
    _kind(
        "[card]",
        "payment card",
        r"\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5}",
        _is_card,
    ),
    _kind("[id]", "US social security number", r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"),
    _kind("[id]", "Spanish DNI and NIE", r"(?:\d{8}|\d{2}\.\d{3}\.\d{3}|[XYZ]-?\d{7})[- ]?[A-HJ-NP-TV-Z]", _is_spanish),
    _kind("[id]", "Brazilian CPF", r"\d{3}\.\d{3}\.\d{3}-\d{2}", _is_brazilian),
    _kind("[id]", "French NIR", r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}", _is_french),
    _kind("[id]", "Italian codice fiscale", r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", _is_italian),
    _kind("[id]", "Swiss AHV number", r"756\.\d{4}\.\d{4}\.\d{2}", _is_swiss),
    _kind("[id]", "German tax id", r"[1-9]\d{10}|[1-9]\d \d{3} \d{3} \d{3}", _is_german),
    _kind("[id]", "Polish PESEL", r"\d{11}", _is_polish),
    _kind("[id]", "Indian Aadhaar", r"[2-9]\d{3} \d{4} \d{4}", _is_indian),
    _kind("[id]", "Korean resident number", r"\d{6}-[1-8]\d{6}", _is_korean),
    _kind("[id]", "Swedish personnummer", r"(?:19|20)?\d{6}[-+]\d{4}", _is_swedish),
    _kind("[id]", "Taiwanese id", r"[A-Z][1289]\d{8}", _is_taiwanese),
    _kind(
        "[id]",
        "British national insurance number",
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?)\d{2}\1\d{2}\1\d{2}\1[A-D]",
    ),
)
_RUN = re.compile(r"\d[\dA-Z .+-]{6,}")
"""What every kind holds."""
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])", re.ASCII)
_NAMES = (
    *(
        "ssn",
        "SSN",
        "ocial",
        "ax",
        "assport",
        "card",
        "ational",
        "river",
        "身份证",
        "护照",
        "驾照",
        "DNI",
        "NIF",
        "NIE",
    ),
    *("teuer", "ersonalausweis", "BSN", "adhaar", "CPF", "iscale"),
)
_NAMED = re.compile(
    r"((?:\bSSN|social security|\btax[ -]?id|passport|\bid card|national id|driver'?s licen[cs]e|身份证|护照|驾照"
    r"|\bDNI|\bNIF|\bNIE|Steuer-?ID|Personalausweis|\bBSN|aadhaar|\bCPF|codice fiscale)"
    r"(?:[ -]?(?:number|no\.?|nr\.?|num\.?|号码|号))?[\"']?(?:\s{1,4}is)?[\s:：#=是为\"']{1,4})"
    r"([A-Z0-9](?:[ .-]?[A-Z0-9]){5,18})(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)


def _hide_iban(match: re.Match[str]) -> str:
    """ISO 13616: modulo 97 is 1. Words in capitals may follow it: the longest beginning that is one is hidden."""
    found = match[0]
    for end in range(len(found), 14, -1):
        number = found[:end].replace(" ", "")
        if len(number) < 15:
            break
        if found[end - 1] != " " and (end == len(found) or found[end] == " "):
            moved = number[4:] + number[:4]
            if int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1:
                return "[iban]" + found[end:]
    return found
