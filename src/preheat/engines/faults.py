"""From an engine's error reply to our own faults. No key and no header value ever stands in a message."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from preheat.engines.shown import shown
from preheat.errors import (
    ContextExceeded,
    EngineDenied,
    EngineFailed,
    EngineFault,
    EngineOverloaded,
    EngineRejected,
)

Scrub = Callable[[str], str]
"""Takes every secret of ours out of a text."""

_CONTEXT = re.compile(r"context (?:length|size|window)|exceed_context_size|too long for the context", re.I)
_LIMIT = re.compile(r"(?:context length|context size|context window)\D{0,30}?(\d{1,12})(?!\d)", re.I)
_ASKED = re.compile(
    r"(?:passed|contains|has|resulted in|requested|request \()(?: at least)?\s*\(?(\d{1,12}) (?:input )?tokens", re.I
)
_TOO_LONG = {"exceed_context_size_error", "context_length_exceeded"}
_TOKENS_END = 10**12


class EngineBusy(EngineOverloaded):
    """Overloaded, and the engine may have said for how long: ``retry_after_s`` in seconds, ``None`` if not."""

    def __init__(self, message: str, remedy: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after_s = retry_after_s


def fault_of_reply(where: str, status: int, body: str, headers: Mapping[str, str], scrub: Scrub) -> EngineFault:
    """The fault that an error reply stands for. ``where`` names engine and route."""
    error = _error_object(body)
    return _fault(where, status, error, _detail(error, body), _seconds(headers.get("Retry-After")), scrub)


def fault_of_event(where: str, error: Any, scrub: Scrub) -> EngineFault:
    """The fault that an ``error`` object inside a reply or a stream stands for."""
    if not isinstance(error, dict):
        error = {"message": _written(error)}
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return _fault(where, status, error, _detail(error, _written(error)), None, scrub)


def _fault(
    where: str, status: int, error: dict[str, Any], detail: str, retry_after_s: float | None, scrub: Scrub
) -> EngineFault:
    if status in (401, 403):
        return EngineDenied(
            f"{where} refused the credentials (HTTP {status})", "check --api-key-env and what the key may do"
        )
    told = shown(scrub(detail))
    if status in (429, 503):
        return EngineBusy(
            f"{where} asked to be left alone (HTTP {status}): {told}",
            "lower the load, or try later",
            retry_after_s=retry_after_s,
        )
    if status >= 500:
        return EngineFailed(f"{where} failed (HTTP {status}): {told}", "see the engine's own log")
    if _CONTEXT.search(detail) or _TOO_LONG & {_written(error.get("type")), _written(error.get("code"))}:
        return ContextExceeded(
            f"{where}: the prompt is longer than the engine's context: {told}",
            "shorten the prompt or raise the engine's context",
            prompt_tokens=_tokens(error.get("n_prompt_tokens"), _ASKED, detail),
            context_tokens=_tokens(error.get("n_ctx"), _LIMIT, detail),
        )
    return EngineRejected(
        f"{where} rejected the request (HTTP {status}): {told}",
        "check --model-name, and that the engine has this route",
    )


def _tokens(said: Any, pattern: re.Pattern[str], detail: str) -> int | None:
    """The number that the engine says in a field of its own, or in its words; ``None`` where it is none."""
    if type(said) is int and 0 < said < _TOKENS_END:
        return said
    found = pattern.search(detail)
    return int(found[1]) if found else None


def _error_object(body: str) -> dict[str, Any]:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = reply.get("error", reply) if isinstance(reply, dict) else {}
    return error if isinstance(error, dict) else {"message": _written(error)}


def _detail(error: dict[str, Any], otherwise: str) -> str:
    message = error.get("message")
    return message if isinstance(message, str) else otherwise


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except (ValueError, RecursionError):  # numbers without end, objects without bottom
        return "(something that cannot be shown)"


def _seconds(text: str | None) -> float | None:
    """``Retry-After`` in seconds; its other form, an HTTP date, is not used by any engine and counts as absent."""
    try:
        seconds = float(text) if text is not None else None
    except ValueError:
        return None
    return max(0.0, seconds) if seconds is not None and math.isfinite(seconds) else None
