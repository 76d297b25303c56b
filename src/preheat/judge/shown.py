"""What a report may show of text that came from elsewhere: short, and without secrets."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from preheat.prompts import redaction

LONGEST = 120
_AFTER = ";:,.!?)]}>'\""
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?"
)
"""Control sequences (CSI), operating system commands (OSC: titles, links), and other escapes of ECMA-48."""
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def plain(text: str) -> str:
    """``text`` without escape sequences, C0 and C1 controls (but white space) and marks that turn its direction."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def excerpt(text: str, longest: int = LONGEST) -> str:
    """``text`` on one line, redacted, without control characters, URLs bared, cut to ``longest`` characters."""
    return redaction.excerpt(_URL.sub(_bared, plain(text)), longest)


def _bared(match: re.Match[str]) -> str:
    """The URL that was found, bared; a sentence's marks that follow it are not part of it."""
    url = match[0].rstrip(_AFTER)
    return address(url) + match[0][len(url) :]


def address(url: str) -> str:
    """A URL without user, password, query and fragment: those may hold keys. A plain path is left as it is."""
    url = " ".join(plain(url).split())
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(unreadable URL)"
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
    return urlunsplit((parts.scheme, host + port, parts.path, "", ""))
