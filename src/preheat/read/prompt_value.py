"""What was asked, understood from one value that a log keeps for it: text, messages, or the body of a request."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from preheat.read.media import text_without_media
from preheat.read.messages import as_text, message_of, messages_of
from preheat.read.nested import decoded, opened
from preheat.read.responses_items import chat_of
from preheat.read.tool_forms import tools_of
from preheat.read.truncation import uncut, up_to_the_cut
from preheat.read.unreadable import Unreadable
from preheat.records.request import Message

CUT_OFF = "a prompt attribute that was cut off"
KEPT_ELSEWHERE = "a prompt that goes on from one that the provider keeps"
_LABEL = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)
_WRAPPERS = ("kwargs", "body", "request", "inputs", "params")
_BODY_FIELDS = {"model", "max_tokens", "temperature", "n", "stop"}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, or the text of a completion; the tools and other parameters where they stand beside them.

    ``truncated``: what is here is known to end before the prompt did.
    """

    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    tools: list[Any] | None = None
    given: dict[str, Any] = {}
    truncated: bool = False


def understood(value: Any) -> Asked:
    """What ``value`` asks. Raises :class:`Unreadable` where it cannot be told, or where the cut took too much."""
    value, cut = opened(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return _listed(value, cut)
    if isinstance(value, dict):
        return _body(value, cut)
    raise Unreadable("a prompt attribute of unknown shape")


def with_system(asked: Asked, instructions: Any) -> Asked:
    """``asked`` after the system instructions that stand apart from it, unless it has its own."""
    if not asked.messages or asked.messages[0].role == "system":
        return asked
    value, cut = opened(instructions)
    system = system_message(value)
    if cut:
        if not system:
            raise Unreadable(CUT_OFF)
        return msgspec.structs.replace(asked, messages=system, truncated=True)
    return msgspec.structs.replace(asked, messages=(*system, *asked.messages))


def system_message(value: Any) -> tuple[Message, ...]:
    """A system message of a text, a part or a list of parts; none where there is nothing in it."""
    if isinstance(value, dict):
        value = value.get("parts", [value])
    text = "".join(map(_part_text, value)) if isinstance(value, list) else value
    return (Message(role="system", content=text),) if isinstance(text, str) and text else ()


def _part_text(part: Any) -> str:
    return as_text(part.get("content", part.get("text")) if isinstance(part, dict) else part)


def _text(text: str) -> Asked:
    if text.lstrip()[:9].startswith(('[{"', '{"messag')):
        raise Unreadable(CUT_OFF)
    text, cut = uncut(text_without_media(text), limited=True)
    labelled = _labelled(text)
    return Asked(messages=labelled, truncated=cut) if labelled else Asked(prompt=text, truncated=cut)


def _labelled(text: str) -> tuple[Message, ...]:
    """Messages that a tool wrote one after the other as ``role: content``; none where the text is another."""
    if not _LABEL.match(text) or text.rstrip().endswith("\nassistant:"):
        return ()
    _, *pieces = _LABEL.split(text)
    messages = []
    for role, content in zip(pieces[::2], pieces[1::2], strict=True):
        content = content.removesuffix("\n")
        messages.append(Message(role=role, content=None if role == "assistant" and content == "None" else content))
    return tuple(messages)


def _listed(entries: list[Any], cut: bool) -> Asked:
    entries = [decoded(entry) for entry in entries]
    if entries and all(isinstance(entry, list) for entry in entries):
        return _only(entries, cut)
    if entries and all(isinstance(entry, str) for entry in entries):
        if entries[0].startswith("role='"):
            raise Unreadable("messages written as a program prints them")
        return _only(entries, cut)
    entries = [entry for entry in entries if not (isinstance(entry, dict) and _is_answer(entry))]
    return _chat(entries, cut)


def _only(entries: list[Any], cut: bool) -> Asked:
    if len(entries) > 1:
        raise Unreadable("several prompts in one call")
    asked = understood(entries[0])
    return msgspec.structs.replace(asked, truncated=True) if cut else asked


def _is_answer(entry: dict[str, Any]) -> bool:
    return entry.get("event.name") == "gen_ai.choice"


def _chat(entries: list[Any], cut: bool) -> Asked:
    """Messages, of which the last may be incomplete where the list was cut."""
    if cut:
        while entries and not _begun(entries[-1]):
            entries = entries[:-1]
        if not entries:
            raise Unreadable(CUT_OFF)
    messages, marked = up_to_the_cut(messages_of(entries), limited=False)
    return Asked(messages=messages, truncated=cut or marked)


def _begun(entry: Any) -> bool:
    """Whether there is anything of a message that was cut."""
    if not isinstance(entry, dict) or not ("role" in entry or "type" in entry or "kwargs" in entry):
        return False
    try:
        message = message_of(entry)
    except Unreadable:
        return False
    return bool(message.content or message.tool_calls)


def _body(body: dict[str, Any], cut: bool) -> Asked:
    last = next(reversed(body), "") if cut else ""
    if last in ("tools", "functions"):
        raise Unreadable("tool definitions that were cut off")
    asked = _asked_in(body, last)
    tools = asked.tools or tools_of(body.get("tools", body.get("functions")))
    return msgspec.structs.replace(asked, tools=tools, given={**body, **asked.given}, truncated=cut or asked.truncated)


def _asked_in(body: dict[str, Any], cut_in: str) -> Asked:
    messages = decoded(body.get("messages"))
    if isinstance(messages, list) and messages:
        return with_system(_listed(messages, cut_in == "messages"), body.get("system", body.get("instructions")))
    contents = decoded(body.get("contents"))
    if isinstance(contents, list) and contents:
        return _gemini(body, contents, cut_in == "contents")
    if body.get("previous_response_id"):
        raise Unreadable(KEPT_ELSEWHERE)
    for name in ("prompt", "prompts"):
        if body.get(name):
            return _completion(body, understood(body[name]))
    given = decoded(body.get("input"))
    if isinstance(given, list):
        return with_system(_chat(chat_of(given), cut_in == "input"), body.get("instructions"))
    if isinstance(given, str) and (_BODY_FIELDS & body.keys() or body.get("instructions")):
        return with_system(_as_user(_text(given)), body.get("instructions"))
    if "role" in body or (body.get("kwargs") and body.get("lc")):
        return _chat([body], bool(cut_in))
    for name in _WRAPPERS:
        if isinstance(body.get(name), dict) and body[name]:
            return _body(body[name], cut_in == name)
    raise Unreadable(CUT_OFF if cut_in else "a prompt attribute of unknown shape")


def _completion(body: dict[str, Any], asked: Asked) -> Asked:
    """``{"prompt"}`` alone is what a user says (Vercel); with a model's parameters beside it, a completion's text."""
    if asked.prompt is None or _BODY_FIELDS & body.keys():
        return asked
    return with_system(_as_user(asked), body.get("system"))


def _as_user(asked: Asked) -> Asked:
    if asked.prompt is None:
        return asked
    return Asked(messages=(Message(role="user", content=asked.prompt),), truncated=asked.truncated)


def _gemini(body: dict[str, Any], contents: list[Any], cut: bool) -> Asked:
    inner = decoded(body.get("config"))
    config = inner if isinstance(inner, dict) else body
    entries = [_gemini_content(entry) for entry in contents]
    system = next((config[name] for name in ("system_instruction", "systemInstruction") if config.get(name)), None)
    asked = with_system(_chat(entries, cut), system)
    options = body.get("generationConfig", config)
    given = options if isinstance(options, dict) else {}
    return msgspec.structs.replace(asked, tools=tools_of(config.get("tools")), given=given)


def _gemini_content(entry: Any) -> Any:
    """A content with the role that a tool's answer has elsewhere; one without a role is the user's."""
    if not isinstance(entry, dict):
        return {"role": "user", "content": entry}
    parts = entry.get("parts")
    answers = isinstance(parts, list) and any(
        isinstance(part, dict) and ("function_response" in part or "functionResponse" in part) for part in parts
    )
    return {**entry, "role": "tool" if answers else entry.get("role") or "user"}
