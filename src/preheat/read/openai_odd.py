"""The lines of an OpenAI-style log that do not fit the usual types: taken apart field by field."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from preheat.read.messages import messages_of, openai_tool
from preheat.read.parameters import sampling_in
from preheat.read.responses_items import chat_of
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.times import first_time
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message, ReadReport, Request

ENVELOPES = ("body", "request", "request_body", "requestBody", "params", "payload", "proxy_server_request")
"""Under which names gateways, batch files and proxies keep the body of a request; an object, or one as JSON text."""
_IDS = ("request_id", "custom_id", "id")
TIMES = (
    *("timestamp", "time", "created", "created_at", "@timestamp", "start_time", "startTime", "ts", "request_time"),
    "time_s",
)
_TENANTS = ("tenant", "tenant_id", "organization", "organization_id", "org_id", "team_id")
_USERS = ("user", "user_id", "end_user")
_SESSIONS = ("session_id", "session", "conversation_id", "conversation", "thread_id")
_PARENTS = ("parent_id", "parent", "parent_request_id", "previous_response_id")
_TURNS = ("turn", "turn_index")
_ADAPTERS = ("adapter", "lora", "lora_name")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
SAID_ELSEWHERE = frozenset((*TIMES, *_TENANTS, *_USERS, *_SESSIONS, "parent", "parent_request_id", *_TURNS, *_LIMITS))
"""Names under which a line beside its messages or prompt may say more of them."""
_ASKED = ("messages", "prompt", "input")
_OF_RESPONSES = frozenset(
    {"instructions", "previous_response_id", "max_output_tokens", "text", "reasoning", "tools", "temperature", "top_p"}
)
"""Fields that a call of the Responses API may have, and one for embeddings never."""
_decoder = msgspec.json.Decoder()


def requests(record: bytes, where: str, report: ReadReport) -> tuple[Request, ...]:
    """The request in ``record`` (several for a list of prompts). Raises :class:`Unreadable`."""
    return requests_in(decode_object(record), where, report)


def requests_in(
    outer: dict[str, Any], where: str, report: ReadReport, *, may_be_silent: bool = False
) -> tuple[Request, ...]:
    """The same of a decoded record. ``may_be_silent``: it may be an arrival that says nothing of what was asked."""
    layers = layers_of(outer)
    body = layers[-1]
    prompts, messages = _what_was_asked(body, outer)
    goes_on = as_name(body.get("previous_response_id")) is not None
    if not messages and not prompts and not may_be_silent:
        raise Unreadable(_why_not(layers))
    if goes_on:  # what was said before stands between the instructions and this input, and is not in the record
        messages = tuple(itertools.takewhile(lambda message: message.role == "system", messages))
    ident = _text(layers, _IDS) or where
    metadata = _metadata(layers)
    one = Request(
        id=ident,
        time_s=first_time(_values(layers, TIMES), report),
        messages=messages,
        prompt=prompts[0] if prompts else None,
        tools=_tools(body),
        truncated=goes_on,
        model=_text(layers, ("model",)),
        adapter=_text(layers, _ADAPTERS),
        tenant=_text(layers, _TENANTS) or tenant_in(metadata) or _text(layers, _USERS),
        session=_session(layers) or session_in(metadata),
        parent=_text(layers, _PARENTS),
        turn=_whole(layers, _TURNS),
        temperature=_number(layers, ("temperature",)),
        sampling=sampling_in(body),
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


def layers_of(outer: dict[str, Any]) -> list[dict[str, Any]]:
    """The line, and what is wrapped in it down to what says what was asked; fields of outer layers win."""
    layers = [outer]
    while len(layers) <= len(ENVELOPES) and not any(layers[-1].get(name) is not None for name in _ASKED):
        inner = _unwrapped(layers[-1])
        if inner is None:
            break
        layers.append(inner)
    return layers


def _unwrapped(layer: dict[str, Any]) -> dict[str, Any] | None:
    """What is in the first envelope that says what was asked, else in the first there is."""
    inner = [value for name in ENVELOPES if isinstance(value := _object(layer.get(name)), dict)]
    speaking = (value for value in inner if any(name in value for name in (*_ASKED, *ENVELOPES)))
    return next(speaking, inner[0] if inner else None)


def _object(value: Any) -> Any:
    return _decoded(value) if isinstance(value, str) and value.lstrip()[:1] == "{" else value


def _decoded(text: str) -> Any:
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _what_was_asked(body: dict[str, Any], outer: dict[str, Any]) -> tuple[list[str], tuple[Message, ...]]:
    """Prompts of a completion, or the messages of a chat (also Anthropic's ``system``, OpenAI's Responses)."""
    if body.get("messages"):
        return [], (*_system(body.get("system")), *messages_of(body["messages"]))
    if (prompt := body.get("prompt")) is not None:
        return _prompts(prompt), ()
    asked, url = body.get("input"), str(outer.get("url") or outer.get("endpoint") or "")
    if asked is None or "embedding" in url or "rerank" in url or "moderation" in url:
        return [], ()
    if isinstance(asked, str) and asked[:2] in ("[{", '{"'):
        asked = _decoded(asked) or asked
    if isinstance(asked, dict) and isinstance(asked.get("messages"), list):
        asked = asked["messages"]
    if isinstance(asked, list) and asked and all(isinstance(entry, dict) for entry in asked):
        messages = chat_of(asked)
        if not messages:
            raise Unreadable("an input without a message")
        return [], (*_system(body.get("instructions")), *messages_of(messages))
    if isinstance(asked, str) and (_OF_RESPONSES & body.keys() or url.endswith("/responses") or _answered(outer)):
        return [], (*_system(body.get("instructions")), Message(role="user", content=asked))
    return [], ()


def _answered(outer: dict[str, Any]) -> bool:
    """Whether the record's own response is one of the Responses API."""
    response = outer.get("response")
    inner = response.get("body", response) if isinstance(response, dict) else {}
    return isinstance(inner, dict) and inner.get("object") == "response"


def _system(value: Any) -> tuple[Message, ...]:
    """A system prompt that stands apart: text, or Anthropic's text blocks, which engines join."""
    if isinstance(value, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in value]
        value = "".join(text for text in texts if isinstance(text, str))
    return (Message(role="system", content=value),) if isinstance(value, str) and value else ()


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


def _values(layers: Sequence[dict[str, Any]], names: Sequence[str]) -> Iterator[Any]:
    return (layer[name] for layer in layers for name in names if layer.get(name) is not None)


def _session(layers: Sequence[dict[str, Any]]) -> str | None:
    """A name, or an object that has one (``"conversation": {"id": ...}``)."""
    for value in _values(layers, _SESSIONS):
        name = as_name(value.get("id") if isinstance(value, dict) else value)
        if name is not None:
            return name
    return None


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
    for value in reversed(list(_values(layers, ("metadata",)))):
        merged |= value if isinstance(value, dict) else {}
    return merged


def tenant_in(metadata: dict[str, Any]) -> str | None:
    """Whose request it is, as ``metadata`` says it: the tenant, else the user."""
    return _text((metadata,), _TENANTS) or _text((metadata,), _USERS) if metadata else None


def session_in(metadata: dict[str, Any]) -> str | None:
    """Which conversation it belongs to, as ``metadata`` says it."""
    return _text((metadata,), _SESSIONS) if metadata else None
