"""Images, sound and files that stand in a prompt as base64: a hash takes their place, so that they are never kept."""

from __future__ import annotations

import hashlib
import re
from typing import Any

_INLINE = re.compile(r"data:([a-z]+)/[\w.+-]+(?:;[\w=.-]+)*;base64,([A-Za-z0-9+/=_-]+)", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\s-]*\Z", re.ASCII)
_LEAST_CHARACTERS = 64
_DEEPEST = 20


def mark(kind: str, data: str) -> str:
    """``[image sha256:…]``: the kind of medium, and the first 16 hex digits of the SHA-256 of its base64 text."""
    digest = hashlib.sha256("".join(data.split()).encode(errors="replace")).hexdigest()
    return f"[{kind} sha256:{digest[:16]}]"


def text_without_media(text: str) -> str:
    """``text`` with a mark in the place of every ``data:…;base64,…`` address."""
    if ";base64," not in text:
        return text
    return _INLINE.sub(lambda found: mark(_kind(found[1]), found[2]), text)


def part_without_media(part: Any) -> Any:
    """A part of a message's content; one that holds base64 becomes a text part with a mark."""
    if isinstance(part, str):
        return text_without_media(part)
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("text"), str) and part.get("type", "text") in ("text", "input_text", "output_text"):
        return {**part, "text": text_without_media(part["text"])} if ";base64," in part["text"] else part
    found = _data_in(part, 0)
    if found is None:
        return part
    kind, data = found
    return {"type": "text", "text": mark(_kind(kind or str(part.get("type") or "")), data)}


def _data_in(node: Any, depth: int) -> tuple[str, str] | None:
    """``(kind, base64)`` of the first data that a part holds: OpenAI's, Anthropic's, Gemini's and OpenTelemetry's."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, str):
        inline = _INLINE.search(node) if ";base64," in node else None
        return (inline[1], inline[2]) if inline else None
    if isinstance(node, list):
        return next((found for entry in node if (found := _data_in(entry, depth + 1))), None)
    if not isinstance(node, dict):
        return None
    for name in ("data", "file_data", "bytes", "content", "image"):
        value = node.get(name)
        if isinstance(value, str) and len(value) >= _LEAST_CHARACTERS and _BASE64.match(value):
            return _said_kind(node), value
    for name, inner in node.items():
        found = _data_in(inner, depth + 1)
        if found:
            return found[0] or _said_kind(node) or str(name), found[1]
    return None


def _said_kind(node: dict[str, Any]) -> str:
    for name in ("modality", "media_type", "mime_type", "mimeType", "mediaType"):
        if isinstance(node.get(name), str):
            return str(node[name]).partition("/")[0]
    return ""


def _kind(said: str) -> str:
    return next((kind for kind in ("image", "audio", "video") if kind in said.lower()), "file")
