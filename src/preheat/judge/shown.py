"""What a report may show of text that came from elsewhere: short, and without secrets."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from preheat.prompts import redaction

LONGEST = 120
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def excerpt(text: str, longest: int = LONGEST) -> str:
    """``text`` on one line, redacted, URLs bared, cut to ``longest`` characters."""
    return redaction.excerpt(_URL.sub(lambda match: address(match[0]), text), longest)


def address(url: str) -> str:
    """A URL without user, password, query and fragment: those may hold keys. A plain path is left as it is."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(unreadable URL)"
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
    return urlunsplit((parts.scheme, host + port, parts.path, "", ""))
