"""Prompts hold people's data: what is shown to people is redacted first and shortened after.

Prompts also hold whatever their writers like: control characters and terminal sequences are taken out, so that
nothing from a log reaches a terminal but text.

Patterns find what has a telling form (addresses, keys, numbers with a check digit). They do not find names, or
secrets that look like words; files for machines (mode 0600) hold the raw text.
"""

from __future__ import annotations

import re

from preheat.prompts.identity_numbers import hide_numbers
from preheat.prompts.keys import BEGINNINGS, KEY_WORDS, hide_keys
from preheat.prompts.phone_numbers import hide_phones

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}"
)
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
    rf"|(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, BEGINNINGS))})[A-Za-z0-9_.-]*"
    r"|(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9.-]{0,200}"
    r"|(?<![0-9])[0-9](?:[ -]?[0-9]){8,18})\Z",
    re.ASCII,
)
"""What may be the first half of a key, an address or a number, at the end of a text that was cut."""
_UNFINISHED_SECRET = re.compile(
    rf"((?:{KEY_WORDS})[\"']?\s{{0,8}}(?:=>|[:=：])\s{{0,8}}[\"']?)[^\s\"',;&\[]+\Z", re.IGNORECASE | re.ASCII
)
_LONGEST_UNFINISHED_CHARS = 512
_TAIL_CHARS = 4096
HIDDEN = "[…]"
LABELS = ("[key]", "[email]", "[id]", "[iban]", "[card]", "[phone]")
_EXCERPT_FROM_CHARS = 4096
_LONGEST_SECRET_CHARS = 1024


def redact(text: str) -> str:
    """``text`` with ``[key]``, ``[email]``, ``[id]``, ``[iban]``, ``[card]`` and ``[phone]`` in place of what looks so.

    Without terminal sequences and control characters, except for tabs and line ends.
    """
    text = hide_keys(printable(text))
    if "@" in text:
        text = _EMAIL.sub("[email]", text)
    return hide_phones(hide_numbers(text))


def printable(text: str) -> str:
    """``text`` without terminal sequences and control characters; tabs and line ends stay."""
    if _CONTROL.search(text) is None:
        return text
    return _SEQUENCE.sub("", text).translate(_CONTROLS)


def redact_cut(text: str) -> str:
    """:func:`redact` for what may be cut at its end: what may be half a secret there is shown as ``[…]``."""
    shown = redact(text).rstrip()
    head, end = shown[:-_LONGEST_UNFINISHED_CHARS], shown[-_LONGEST_UNFINISHED_CHARS:]
    return head + _UNFINISHED.sub(HIDDEN, _UNFINISHED_SECRET.sub(rf"\1{HIDDEN}", end))


def begun_before(tail: str) -> str:
    """The end of a longer text, with ``[…]`` in place of what may have begun before it: half a secret is known to no
    pattern."""
    return _BEGUN_BEFORE.sub(HIDDEN, tail, count=1)


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
        tail = begun_before(tail)
    line = " ".join(redact_cut(tail).split())
    if len(line) <= width and not before:
        return line
    return "…" + line[max(0, len(line) - width + 1) :].lstrip() if width > 0 else ""
