"""The lines of an OpenAI-style log that do not fit the usual types: taken apart field by field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from preheat.read.messages import messages_of, openai_tool
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.times import seconds
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, Request

_ENVELOPES = ("body", "request", "request_body")
_IDS = ("request_id", "custom_id", "id")
_TIMES = ("timestamp", "time", "created", "created_at", "@timestamp", "start_time", "startTime")
_TENANTS = ("tenant", "tenant_id", "organization", "organization_id", "org_id", "team_id")
_USERS = ("user", "user_id", "end_user")
_SESSIONS = ("session_id", "session", "conversation_id", "conversation", "thread_id")
_ADAPTERS = ("adapter", "lora", "lora_name")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_decoder = msgspec.json.Decoder()


def requests(record: bytes, where: str) -> Iterable[Request]:
    """The request in ``record`` (several for a list of prompts). Raises :class:`Unreadable`."""
    outer = decode_object(record)
    layers = _layers(outer)
    body = layers[-1]
    prompts, messages = _what_was_asked(body, str(outer.get("url") or ""))
    if not messages and not prompts:
        raise Unreadable(_why_not(layers))
    ident = _text(layers, _IDS) or where
    metadata = _metadata(layers)
    one = Request(
        id=ident,
        time_s=next((time for time in map(seconds, _values(layers, _TIMES)) if time is not None), None),
        messages=messages,
        prompt=prompts[0] if prompts else None,
        tools=_tools(body),
        model=_text(layers, ("model",)),
        adapter=_text(layers, _ADAPTERS),
        tenant=_text(layers, _TENANTS) or tenant_in(metadata) or _text(layers, _USERS),
        session=_text(layers, _SESSIONS) or session_in(metadata),
        temperature=_number(layers, ("temperature",)),
        max_tokens=_whole(layers, _LIMITS),
        input_tokens=_usage(outer, ("prompt_tokens", "input_tokens")),
        output_tokens=_usage(outer, ("completion_tokens", "output_tokens")),
        source=where,
    )
    if len(prompts) < 2:
        return (one,)
    return tuple(
        msgspec.structs.replace(one, id=f"{ident}#{number}", prompt=prompt) for number, prompt in enumerate(prompts)
    )


def decode_object(record: bytes) -> dict[str, Any]:
    """``record`` as a JSON object. Raises :class:`Unreadable` with a reason that can be counted by."""
    try:
        value = _decoder.decode(record)
    except UnicodeDecodeError:
        raise Unreadable("invalid UTF-8") from None
    except msgspec.DecodeError as error:
        raise Unreadable("invalid UTF-8" if "utf-8" in str(error).lower() else "not JSON") from None
    except RecursionError:
        raise Unreadable("JSON nested too deeply") from None
    if not isinstance(value, dict):
        raise Unreadable("not a JSON object")
    return value


def _layers(outer: dict[str, Any]) -> list[dict[str, Any]]:
    """The line, and the request's body inside it where there is one; fields of the outer layer win."""
    for name in _ENVELOPES:
        inner = outer.get(name)
        if isinstance(inner, str) and inner.lstrip()[:1] == "{":
            inner = _decoded(inner)
        if isinstance(inner, dict):
            deeper = inner.get("body")
            return [outer, inner, deeper] if isinstance(deeper, dict) else [outer, inner]
    return [outer]


def _decoded(text: str) -> Any:
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _what_was_asked(body: dict[str, Any], url: str) -> tuple[list[str], tuple[Message, ...]]:
    """Prompts of a completion, or the messages of a chat (also Anthropic's ``system``, OpenAI's Responses)."""
    if body.get("messages"):
        return [], (*_system(body.get("system")), *messages_of(body["messages"]))
    if (prompt := body.get("prompt")) is not None:
        return _prompts(prompt), ()
    asked = body.get("input")
    if asked is None or "embedding" in url or "rerank" in url:
        return [], ()
    listed = isinstance(asked, list) and bool(asked) and all(isinstance(entry, dict) for entry in asked)
    if listed:
        return [], (*_system(body.get("instructions")), *messages_of([e for e in asked if "role" in e] or asked))
    if isinstance(asked, str) and ("instructions" in body or url.endswith("/responses")):
        return [], (*_system(body.get("instructions")), Message(role="user", content=asked))
    return [], ()


def _system(value: Any) -> tuple[Message, ...]:
    return (Message(role="system", content=value),) if isinstance(value, str | list) and value else ()


def _prompts(prompt: Any) -> list[str]:
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, list) and prompt:
        if all(isinstance(entry, str) for entry in prompt):
            return prompt
        if all(isinstance(entry, int | list) for entry in prompt):
            raise Unreadable("the prompt is given as token ids")
    raise Unreadable("the prompt is not text")


def _tools(body: dict[str, Any]) -> list[Any] | None:
    if isinstance(body.get("tools"), list):
        return [openai_tool(tool) for tool in body["tools"]] or None
    functions = body.get("functions")
    if not isinstance(functions, list):
        return None
    return [{"type": "function", "function": function} for function in functions] or None


def _why_not(layers: list[dict[str, Any]]) -> str:
    names = {name for layer in layers for name in layer}
    if "choices" in names or "response" in names or "output" in names:
        return "a response without its request"
    if "input" in names:
        return "an embedding or other request without a prompt"
    if "messages" in names:
        return "no messages"
    return "neither messages nor a prompt"


def _values(layers: Sequence[dict[str, Any]], names: Sequence[str]) -> list[Any]:
    return [layer[name] for layer in layers for name in names if layer.get(name) is not None]


def _text(layers: Sequence[dict[str, Any]], names: Sequence[str]) -> str | None:
    return next((text for text in map(as_name, _values(layers, names)) if text is not None), None)


def _number(layers: Sequence[dict[str, Any]], names: Sequence[str]) -> float | None:
    return next((number for number in map(as_number, _values(layers, names)) if number is not None), None)


def _whole(layers: Sequence[dict[str, Any]], names: Sequence[str]) -> int | None:
    return as_whole(_number(layers, names))


def _usage(outer: dict[str, Any], names: Sequence[str]) -> int | None:
    """Token counts that the log states, of the line itself or of the response that goes with it."""
    response = outer.get("response")
    inner = response.get("body", response) if isinstance(response, dict) else {}
    holders = [outer.get("usage"), outer, inner.get("usage") if isinstance(inner, dict) else None]
    return _whole([holder for holder in holders if isinstance(holder, dict)], names)


def _metadata(layers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for value in reversed(_values(layers, ("metadata",))):
        merged |= value if isinstance(value, dict) else {}
    return merged


def tenant_in(metadata: dict[str, Any]) -> str | None:
    """Whose request it is, as ``metadata`` says it: the tenant, else the user."""
    return _text((metadata,), _TENANTS) or _text((metadata,), _USERS) if metadata else None


def session_in(metadata: dict[str, Any]) -> str | None:
    """Which conversation it belongs to, as ``metadata`` says it."""
    return _text((metadata,), _SESSIONS) if metadata else None
