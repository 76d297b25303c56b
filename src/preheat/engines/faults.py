"""From an engine's error reply to our own faults. No key and no header value ever stands in a message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from preheat.errors import (
    ContextExceeded,
    EngineDenied,
    EngineFailed,
    EngineFault,
    EngineOverloaded,
    EngineRejected,
)

_CONTEXT = re.compile(r"context (?:length|size|window)|exceed_context_size|too long for the context", re.I)
_LIMIT = re.compile(r"(?:context length|context size|context window)\D{0,30}?(\d+)", re.I)
_ASKED = re.compile(
    r"(?:passed|contains|has|resulted in|requested|request \()(?: at least)?\s*\(?(\d+) (?:input )?tokens", re.I
)
_EXCERPT_CHARS = 300


class EngineBusy(EngineOverloaded):
    """Overloaded, and the engine may have said for how long: ``retry_after_s`` in seconds, ``None`` if not."""

    def __init__(self, message: str, remedy: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after_s = retry_after_s


def fault_of_reply(where: str, status: int, body: str, headers: Mapping[str, str]) -> EngineFault:
    """The fault that an error reply stands for. ``where`` names engine and route; ``body`` is already scrubbed."""
    if status in (401, 403):
        return EngineDenied(
            f"{where} refused the credentials (HTTP {status})", "check --api-key-env and what the key may do"
        )
    detail = _detail(body)
    if status in (429, 503):
        return EngineBusy(
            f"{where} asked to be left alone (HTTP {status}): {_excerpt(detail)}",
            "lower the load, or try later",
            retry_after_s=_seconds(headers.get("Retry-After")),
        )
    if status >= 500:
        return EngineFailed(f"{where} failed (HTTP {status}): {_excerpt(detail)}", "see the engine's own log")
    if _CONTEXT.search(detail) or _CONTEXT.search(body):
        return _context_exceeded(where, detail, body)
    return EngineRejected(f"{where} rejected the request (HTTP {status}): {_excerpt(detail)}")


def fault_of_event(where: str, error: Any) -> EngineFault:
    """The fault that an ``error`` object inside a reply or a stream stands for."""
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return fault_of_reply(where, status, json.dumps({"error": error}), {})


def _context_exceeded(where: str, detail: str, body: str) -> ContextExceeded:
    error = _error_object(body)
    asked, limit = error.get("n_prompt_tokens"), error.get("n_ctx")
    if not isinstance(limit, int):
        found = _LIMIT.search(detail)
        limit = int(found[1]) if found else None
    if not isinstance(asked, int):
        found = _ASKED.search(detail)
        asked = int(found[1]) if found else None
    return ContextExceeded(
        f"{where}: the prompt is longer than the engine's context: {_excerpt(detail)}",
        "shorten the prompt or raise the engine's context",
        prompt_tokens=asked,
        context_tokens=limit,
    )


def _error_object(body: str) -> dict[str, Any]:
    try:
        reply = json.loads(body)
    except ValueError:
        return {}
    error = reply.get("error", reply) if isinstance(reply, dict) else {}
    return error if isinstance(error, dict) else {"message": str(error)}


def _detail(body: str) -> str:
    message = _error_object(body).get("message")
    return message if isinstance(message, str) else body


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARS else line[:_EXCERPT_CHARS] + "..."


def _seconds(text: str | None) -> float | None:
    """``Retry-After`` in seconds; its other form, an HTTP date, is not used by any engine and counts as absent."""
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:
        return None
