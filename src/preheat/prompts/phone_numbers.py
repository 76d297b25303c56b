"""Phone numbers: in forms that nothing else has, or after a word that announces one."""

from __future__ import annotations

import re
from itertools import pairwise

from preheat.prompts.windows import around

LABEL = "[phone]"
_FORM = re.compile(
    r"(?<![\w.+/-])(?:"
    r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"  # international (E.123)
    r"|\(\+\d{1,3}\)[ .-]?\d{2,5}(?:[ .-]?\d{2,5}){1,4}"
    r"|00[1-9]\d{0,2}[ .-]\d{1,4}(?:[ .-]\d{2,9}){1,4}"
    r"|(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}"  # North America
    r"|(?:86-?)?1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})"  # China, mobile
    r"|\(0?\d{1,4}\) ?\d{3,5}[ -]?\d{3,5}"  # an area code in parentheses
    r"|(?P<trunk>0[1-9]\d{0,4}[ /-]{1,3}\d{2,9}(?:[ -]\d{2,5}){0,4})"  # national, with the 0 that is left out abroad
    r"|0\d{2,3}-\d{7,8}"  # China, land line
    r")(?![\w:/-])(?!\.\d)",
    re.ASCII,
)
_WORDS = (
    r"(?<![A-Za-z])(?:tel(?:e(?:phone|fono|fon|phon)|[eé]fono|\.)?|phone|mobile?|m[oó]vil|celular|cell|fax|handy|rufnummer"
    r"|call|whatsapp|sms)|电话|手机|電話|热线|传真|联系方式"
)
_ANNOUNCED = re.compile(
    rf"((?:{_WORDS})[^\d\n.,;!?+({{}}\[\]]{{0,24}})(?!\d{{4}}-\d\d-\d\d)(\+?\(?\d(?:[ ().-]{{0,3}}\d){{6,14}})"
    r"(?![\w:,/-])(?!\.\d)",
    re.IGNORECASE,
)
_ANNOUNCING = re.compile(
    r"\s*\Z|.*(?:[:：=#\"'(是为]|\bis|\bat|\bon|\bnumber|\bno\.?|\bnr|号码?)\s*[\"'(]?\Z", re.IGNORECASE
)
_RUN = re.compile(r"\d[\d ()./-]{5,}")
"""What every phone number holds."""
_DATE = re.compile(r"0\d[/ -]\d\d?[/ -](?:19|20)\d\d")


def hide_phones(text: str) -> str:
    """``text`` with ``[phone]`` in place of phone numbers. Sums, dates, versions and ids stay."""
    return around(text, _RUN, 48, 4, _hide)


def _hide(text: str) -> str:
    text = _FORM.sub(lambda match: LABEL if _is_phone(match) else match[0], text)
    return _ANNOUNCED.sub(lambda match: match[1] + LABEL if _ANNOUNCING.match(_gap(match[1])) else match[0], text)


def _gap(announced: str) -> str:
    word = re.match(_WORDS, announced, re.IGNORECASE)
    return announced[word.end() :] if word else announced


def _is_phone(match: re.Match[str]) -> bool:
    """E.164 allows 15 digits; under 9 it is a number like any other. Two digits at a time are French: five
    pairs, and no 05 10 15 20 25."""
    found = match[0]
    if not 9 <= sum(map(str.isdigit, found)) <= 15:
        return False
    if match["trunk"] is None:
        return True
    groups = re.findall(r"\d+", found)
    if all(len(group) <= 2 for group in groups):
        steps = {int(b) - int(a) for a, b in pairwise(groups)}
        return len(groups) == 5 and not (len(steps) == 1 and steps <= set(range(11)))
    return _DATE.match(found) is None
