"""Prompts hold people's data: what is shown to people is redacted first and shortened after.

Prompts also hold whatever their writers like: control characters and terminal sequences are taken out, so that
nothing from a log reaches a terminal but text.

Patterns find what has a telling form (addresses, keys, numbers with a check digit). They do not find names, or
secrets that look like words; files for machines (mode 0600) hold the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_KEY_WORDS = (
    r"api[_-]?key|access[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret|private[_-]?key|"
    r"auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|token|passw(?:or)?d|pwd"
)
_KEYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"  # JSON web tokens
    r"|\b(?:sk|pk|rk)[-_](?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, Stripe
    r"|\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"
    r"|\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}"  # Google
    r"|\bxox[abposr]-[A-Za-z0-9-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}"
    r"|\bLTAI[A-Za-z0-9]{12,}\b",  # Alibaba Cloud
    re.DOTALL | re.ASCII,
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s{1,8})([A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE | re.ASCII)
_ASSIGNED = re.compile(
    rf"((?:{_KEY_WORDS})[\"']?\s{{0,8}}(?:=>|[:=])\s{{0,8}}[\"']?)"
    r"([^\s\"',;&]{8,})",
    re.IGNORECASE | re.ASCII,
)
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}"
)
_CN_ID = re.compile(r"\b[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[0-9Xx]\b", re.ASCII)
_US_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])", re.ASCII)
_CARD = re.compile(
    r"(?<![\w.])(?<!\d-)"
    r"(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5})"
    r"(?![-.]?\w)",
    re.ASCII,
)
_PHONE = re.compile(
    r"(?<![\w.+-])(?:"
    r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"  # international
    r"|(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}"  # North America
    r"|1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})"  # China, mobile
    r"|0\d{2,3}-\d{7,8}"  # China, land line
    r")(?![\w-])",
    re.ASCII,
)
"""ASCII classes throughout: no letter boundary is needed between Chinese text and a number."""
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,1024}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI
    r"|\x1b[ -/]{0,8}[0-~]"
)
"""Terminal sequences (ECMA-48, 5.3-5.6), in their forms of seven and of eight bits."""
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "")
_CONTROLS |= dict.fromkeys((0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x1F, 0x85), " ")
del _CONTROLS[0x09], _CONTROLS[0x0A]
_CONTROL = re.compile("[" + "".join(map(re.escape, map(chr, _CONTROLS))) + "]")
"""C0, C1 and the marks that turn the direction of writing; those that are white space become a blank."""
_BEGUN_BEFORE = re.compile(
    r"\A(?:.{0,4096}?-----END [A-Z ]*PRIVATE KEY-----"
    r"|[A-Za-z0-9+/=]*(?: ?\n[A-Za-z0-9+/=]{40,})+(?: ?\n[A-Za-z0-9+/=]+\Z)?"
    r"|[A-Za-z0-9_.+/=~-]+)",
    re.DOTALL,
)
"""The rest of what may have begun before a text's tail: of a private key, or of any token."""
_UNFINISHED = re.compile(
    r"(?:(?<![A-Za-z0-9_-])(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[A-Za-z0-9_-]{12,}"
    r"|\b(?:(?:sk|pk|rk)[-_]|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AROA|AIDA|AIza|ya29\.|xox[abposr]-|hf_|npm_|pypi-"
    r"|LTAI|eyJ)[A-Za-z0-9_.-]*"
    r"|(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9.-]{0,200}"
    r"|(?<![0-9])[0-9](?:[ -]?[0-9]){8,18})\Z",
    re.ASCII,
)
"""What may be the first half of a key, an address or a number, at the end of a text that was cut."""
_UNFINISHED_SECRET = re.compile(
    rf"((?:{_KEY_WORDS})[\"']?\s{{0,8}}(?:=>|[:=])\s{{0,8}}[\"']?)[^\s\"',;&\[]+\Z", re.IGNORECASE | re.ASCII
)
_LONGEST_UNFINISHED_CHARS = 512
_TAIL_CHARS = 4096
_HIDDEN = "[…]"
_EXCERPT_FROM_CHARS = 4096
_LONGEST_SECRET_CHARS = 1024
_CN_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def redact(text: str) -> str:
    """``text`` with ``[key]``, ``[email]``, ``[id]``, ``[card]`` and ``[phone]`` in place of what looks like one.

    Without terminal sequences and control characters, except for tabs and line ends.
    """
    text = printable(text)
    text = _KEYS.sub("[key]", text)
    text = _BEARER.sub(r"\1[key]", text)
    text = _ASSIGNED.sub(_hide_secret, text)
    text = _EMAIL.sub("[email]", text)
    text = _CN_ID.sub(_if(_is_cn_id, "[id]"), text)
    text = _US_SSN.sub("[id]", text)
    text = _CARD.sub(_if(_is_card, "[card]"), text)
    return _PHONE.sub(_if(_is_phone, "[phone]"), text)


def printable(text: str) -> str:
    """``text`` without terminal sequences and control characters; tabs and line ends stay."""
    if _CONTROL.search(text) is None:
        return text
    return _SEQUENCE.sub("", text).translate(_CONTROLS)


def excerpt(text: str, width: int = 80) -> str:
    """One line of at most ``width`` characters: redacted, white space run together, shortened with ``…``."""
    considered = _EXCERPT_FROM_CHARS + width
    line = " ".join(redact(text[:considered]).split())
    if len(text) > considered:
        # What stands at the cut may be half a secret, which no pattern knows.
        line = line[:-_LONGEST_SECRET_CHARS] + "…"
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def tail_excerpt(text: str, width: int = 80) -> str:
    """One line of at most ``width`` characters that shows the *end* of ``text``, as :func:`excerpt` its beginning.

    ``text`` may be cut anywhere, so what touches its end and may be half a secret is shown as ``[…]``.
    """
    tail, before = printable(text[-_TAIL_CHARS:]), text[:-_TAIL_CHARS]
    if before:
        # What stands at this cut may be half a secret, which no pattern knows.
        tail = _BEGUN_BEFORE.sub(_HIDDEN, tail, count=1)
    shown = redact(tail).rstrip()
    head, end = shown[:-_LONGEST_UNFINISHED_CHARS], shown[-_LONGEST_UNFINISHED_CHARS:]
    end = _UNFINISHED.sub(_HIDDEN, _UNFINISHED_SECRET.sub(rf"\1{_HIDDEN}", end))
    line = " ".join((head + end).split())
    if len(line) <= width and not before:
        return line
    return "…" + line[max(0, len(line) - width + 1) :].lstrip() if width > 0 else ""


def _if(is_one: Callable[[str], bool], label: str) -> Callable[[re.Match[str]], str]:
    return lambda match: label if is_one(match[0]) else match[0]


def _hide_secret(match: re.Match[str]) -> str:
    """After ``key=`` a secret is random: a run of letters and digits mixed, not a word, a call or a template."""
    value = match[2]
    is_secret = re.fullmatch(r"[A-Za-z0-9._~+/=!@#$%^*-]+", value) is not None and (
        any(character.isdigit() for character in value) and any(character.isalpha() for character in value)
    )
    return f"{match[1]}[key]" if is_secret else match[0]


def _is_card(found: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1) over 13-19 digits whose first names a card scheme (2-6)."""
    digits = [int(character) for character in found if character.isdigit()]
    if digits[0] not in (2, 3, 4, 5, 6) or not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_cn_id(found: str) -> bool:
    """The check digit of GB 11643-1999 (ISO 7064, MOD 11-2)."""
    total = sum(weight * int(digit) for weight, digit in zip(_CN_WEIGHTS, found, strict=False))
    return "10X98765432"[total % 11] == found[-1].upper()


def _is_phone(found: str) -> bool:
    """E.164 allows 15 digits; under 9 it is a number like any other."""
    return 9 <= sum(character.isdigit() for character in found) <= 15
