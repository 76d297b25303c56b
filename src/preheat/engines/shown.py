"""An engine's words in our messages: no control character reaches the terminal, and no person's data a log.

An engine that refuses a prompt often repeats it.
"""

from __future__ import annotations

import re

from preheat.prompts.redaction import excerpt

_SPACES = re.compile(r"\s+")
_CONTROLS = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # C0 with ESC, DEL, C1
    r"\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # invisible, and what turns the direction of writing
    r"\ud800-\udfff]"  # half a character: cannot be written as UTF-8
)
_CONSIDERED_CHARS = 16_384


def shown(text: str, width: int = 300) -> str:
    """One line of at most ``width`` characters: without control characters, redacted, and only then cut."""
    considered = _SPACES.sub(" ", text[:_CONSIDERED_CHARS])
    if len(text) > _CONSIDERED_CHARS:  # what stands at the cut may be half a secret
        considered = considered[:-1024]
    return excerpt(_CONTROLS.sub("", considered), width)


def has_controls(text: str) -> bool:
    """Whether ``text`` has characters that no name has."""
    return _CONTROLS.search(text) is not None
