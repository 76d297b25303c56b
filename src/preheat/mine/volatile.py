"""What kind of text stands where two prompts part: a time, an id, a name, the same things in another order."""

from __future__ import annotations

import re
from collections import Counter

from preheat.records.outcomes import BreakCause

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[ap]\.?m\.?)?(?: ?(?:z|utc|gmt|[+-]\d{2}:?\d{2}))?"
_DATE = (
    rf"(?:(?:{_DAY},? )?(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH},? \d{{4}}"
    rf"|\d{{4}}年\d{{1,2}}月\d{{1,2}}日))"
)
_KINDS: tuple[tuple[BreakCause, re.Pattern[str]], ...] = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        (BreakCause.UUID, r"(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])"),
        (BreakCause.TIMESTAMP, rf"{_DATE}(?:t|,? (?:at )?)?{_CLOCK}|(?<![\d:]){_CLOCK}(?![\d:])"),
        (BreakCause.TIMESTAMP, r"(?<![\d.])1[0-9]{9}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?(?![\d.])"),
        (BreakCause.DATE, rf"{_DATE}|\b{_DAY}\b|\b{_MONTH} \d{{1,2}}\b"),
        (BreakCause.EMAIL, r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
        (BreakCause.ID, r"(?<![0-9a-z])(?=[a-z]{0,40}\d)(?=\d{0,40}[a-z])[0-9a-z]{12,128}(?![0-9a-z])"),
        (BreakCause.ID, r"(?<![0-9a-z])(?:[a-z]{1,16}[-_:#/]){1,3}[0-9a-z_-]{0,40}\d[0-9a-z_-]{0,40}(?![0-9a-z])"),
        (BreakCause.ID, r"#\d{1,19}\b|\b(?:id|no|number|nr|session|request|trace|user)[.:= #]{1,3}\d{1,19}\b"),
        (BreakCause.NUMBER, r"(?<![\w.])-?\d{1,19}(?:[.,]\d{1,9})?%?(?!\w)"),
    )
)
_CALLED = re.compile(
    r"(?:\b(?:user|customer|client|name|hello|hi|dear|agent|operator|speaking (?:to|with))|用户|姓名|客户)"
    r"(?: ?name)?(?: is)?[\"']?\s{0,2}[:=,：]?\s{0,2}[\"']?(?:[\w.'-]{1,20} ){0,2}\Z",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w.'-]{0,24}(?: [^\W\d_][\w.'-]{0,24}){0,3}|[一-鿿]{1,6}")
_LONGEST = 160
_AROUND = 48
_PIECES = re.compile(r"[,{}\[\]]+")
_ITEM = re.compile(r"\n|(?<=[^\n])(?=<\|)")
"""Where one item ends and the next begins: a line's end, or a chat template's mark."""
_LEAST_ITEM_CHARS = 8
_LEAST_LINES = 2
_LEAST_MEMBERS = 3


def cause_of(text: str, begin: int, end: int) -> tuple[BreakCause, int, int]:
    """What ``text[begin:end]``, which differs between prompts, belongs to, and from where to where that goes.

    TEXT, and the same places, where it is nothing of a telling form.
    """
    if end - begin > _LONGEST:
        return BreakCause.TEXT, begin, end
    lower, upper = max(0, begin - _AROUND), min(len(text), max(end, begin + 1) + _AROUND)
    for cause, pattern in _KINDS:
        for match in pattern.finditer(text, lower, upper):
            if match.start() <= begin and end <= match.end():
                return cause, match.start(), match.end()
    left, right = begin, end
    while left > lower and (text[left - 1].isalnum() or text[left - 1] in "_-'"):
        left -= 1
    while right < upper and (text[right].isalnum() or text[right] in "_-'"):
        right += 1
    if _NAME.fullmatch(text, left, right) and _CALLED.search(text[max(0, left - _AROUND) : left]):
        return BreakCause.NAME, left, right
    return BreakCause.TEXT, begin, end


def common_form(left: str, right: str) -> BreakCause | None:
    """The first kind of thing that differs, where two texts differ in nothing but things of a telling form."""
    first: BreakCause | None = None
    for cause, pattern in _KINDS:
        if first is None and pattern.findall(left) != pattern.findall(right):
            first = cause
        left, right = pattern.sub("\0", left), pattern.sub("\0", right)
    return first if left == right else None


def reordered(left: str, right: str) -> tuple[int, int, str] | None:
    """How many characters at the beginning of both hold the same items in another order; ``None`` if none do.

    Items are lines (tools, examples, passages), or the members of JSON (keys, array elements) where it is all on one
    line. The first items may be anything that both have; two lines or three members are needed at least. The longest
    item comes last in the answer.
    """
    by_line = _same_set(_items(left), _items(right))
    if by_line is not None:
        return by_line
    first, second = _ITEM.split(left, maxsplit=1)[0], _ITEM.split(right, maxsplit=1)[0]
    if len(first) == len(left) or not ("," in first and (":" in first or "[" in first)):
        return None
    members = Counter(filter(None, map(str.strip, _PIECES.split(first))))
    if members.total() < _LEAST_MEMBERS or members != Counter(filter(None, map(str.strip, _PIECES.split(second)))):
        return None
    return len(first), len(second), max(members, key=len)


def _items(text: str) -> list[tuple[str, int]]:
    """The items of a text, each with the place where the next one begins. The last may be cut, so it is none."""
    found, begin = [], 0
    for match in _ITEM.finditer(text):
        found.append((text[begin : match.start()], match.end()))
        begin = match.end()
    return found


def _same_set(left: list[tuple[str, int]], right: list[tuple[str, int]]) -> tuple[int, int, str] | None:
    """The beginnings that have the same items and end with one that stands elsewhere in the other."""
    surplus: Counter[str] = Counter()
    found: tuple[int, int, str] | None = None
    longest = ""
    open_items = items = 0
    for (one, one_end), (other, other_end) in zip(left, right, strict=False):
        for item, step in ((one, 1), (other, -1)):
            before = surplus[item]
            surplus[item] = before + step
            open_items += abs(before + step) - abs(before)
        items += len(one) >= _LEAST_ITEM_CHARS
        longest = max(longest, one, key=len)
        if open_items == 0 and one != other and items >= _LEAST_LINES:
            found = one_end, other_end, longest
    return found
