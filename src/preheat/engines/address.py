"""What a user says of where an engine is, checked before anything is sent; secrets in it are never shown."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from preheat.engines.shown import has_controls, shown
from preheat.errors import BadInput

_USER = re.compile(r"\A(\s*[A-Za-z][A-Za-z0-9+.-]*:/+|/*).*@", re.DOTALL)
_HOST = re.compile(r"[A-Za-z0-9._-]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, section 5.6.2
_REMEDY = "write it like http://127.0.0.1:8000"


def base_url(url: str) -> tuple[str, tuple[str, str] | None]:
    """The URL without user, query and ``/v1`` at its end, and ``(user, password)`` where it has them.

    Raises :class:`BadInput`, with no password in it, for what is not the URL of an engine.
    """
    if has_controls(url.strip()) or " " in url.strip():
        raise BadInput(f"{safe_url(url)!r} is not the URL of an engine: it has spaces or control characters", _REMEDY)
    try:
        parts = urlsplit(url.strip())
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:  # its words would show a password that has a slash in it
        raise BadInput(f"{safe_url(url)!r} is not a URL: its port or its brackets are wrong", _REMEDY) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{safe_url(url)!r} is not the URL of an engine", _REMEDY)
    host = _host(parts.hostname, url)
    path = parts.path.rstrip("/").removesuffix("/v1")
    return urlunsplit((parts.scheme, host + port, path, "", "")), _user(parts, url)


def safe_url(url: str) -> str:
    """``url`` fit for a message: no user, no password, no query."""
    bare = re.split(r"[?#]", _USER.sub(r"\1***@", url), maxsplit=1)[0]
    return shown(bare, 200)


def redirect_target(asked: str, path: str, location: str) -> str:
    """Which engine's URL a redirection of ``asked + path`` to ``location`` means, fit for a message."""
    try:
        target, _ = base_url(urljoin(asked + path, location))
    except (BadInput, ValueError):
        return safe_url(location)
    return safe_url(target.removesuffix(path.split("?")[0]))


def check_headers(headers: dict[str, str]) -> None:
    """Raises :class:`BadInput` that names the header, never its value, for one that cannot be sent."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise BadInput(f"{shown(name, 60)!r} is not the name of an HTTP header", "letters, digits and hyphens")
        if has_controls(value.replace("\t", " ")):
            raise BadInput(f"the value of the header {name} has line breaks or control characters", "one line of text")


def check_key(variable: str, key: str) -> None:
    """Raises :class:`BadInput` that names the environment variable, never the key, for a key that cannot be sent."""
    if not key:
        raise BadInput(f"the environment variable {shown(variable)} holds no API key", f"export {shown(variable)}=...")
    if has_controls(key):
        raise BadInput(
            f"the API key in the environment variable {shown(variable)} has line breaks or control characters",
            "one line, the key alone",
        )


def _host(name: str, url: str) -> str:
    """As it goes into a URL. A name that could never be resolved is the user's mistake, not the network's."""
    import yarl  # with aiohttp, which is needed from here on

    try:
        if ":" in name:
            ipaddress.IPv6Address(name.replace("%25", "%", 1))
            return f"[{name}]"
        encoded = yarl.URL.build(scheme="http", host=name).raw_host or ""
        _ = yarl.URL(f"http://{encoded}/").host
        encoded.encode("idna")  # as the resolver will: no label empty or over 63 bytes
        if not _HOST.fullmatch(encoded):
            raise ValueError(encoded)
    except ValueError:
        raise BadInput(f"{safe_url(url)!r} is not a URL: it names no possible host", _REMEDY) from None
    return name


def _user(parts: SplitResult, url: str) -> tuple[str, str] | None:
    if not parts.username and not parts.password:
        return None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if ":" in user or has_controls(user + password):
        raise BadInput(f"the user or password in {safe_url(url)!r} cannot be sent", "no colon, no control characters")
    return user, password
