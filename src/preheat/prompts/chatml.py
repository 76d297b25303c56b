"""``preheat-chatml``: the stated default rendering, used where the engine's own template is not known.

::

    <|im_start|>tools\\n{one compact JSON per tool, newline separated}<|im_end|>\\n     only with tools
    <|im_start|>{role}\\n{content}<|im_end|>\\n                                        one per message
    <|im_start|>assistant\\n                                                          the generation prompt

It is ChatML (OpenAI, 2023) with a tool block of our own. A prefix of it can be turned back into messages
with :func:`parse`, for engines that take nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from preheat.records.request import Message, Request

START = "<|im_start|>"
END = "<|im_end|>"
GENERATION_PROMPT = f"{START}assistant\n"
_TOOLS = f"{START}tools\n"
_CLOSE = f"{END}\n"
_HEADERS = {role: f"{START}{role}\n" for role in ("system", "developer", "user", "assistant", "tool")}
_encode = msgspec.json.Encoder().encode


def content_text(content: str | list[Any] | None) -> str:
    """A message's content as text: the text parts joined with nothing between, others as ``[image_url]``."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    return "".join(map(_part_text, content))


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return f"[{type(part).__name__}]"
    text = part.get("text")
    if text is None and part.get("type", "text") == "text":
        text = part.get("content")
    return text if isinstance(text, str) else f"[{part.get('type') or 'part'}]"


def render_messages(
    messages: Sequence[Message], tools: Sequence[Any] | None = None, add_generation_prompt: bool = True
) -> str:
    """Render a chat. Tool calls follow the content of their message as one compact JSON list."""
    pieces: list[str] = []
    add = pieces.append
    if tools:
        add(_TOOLS)
        add("\n".join([_encode(tool).decode() for tool in tools]))
        add(_CLOSE)
    for message in messages:
        role, content = message.role, message.content
        add(_HEADERS.get(role) or _header(role))
        if content.__class__ is str:
            add(content)
        elif content:
            add(content_text(content))
        if message.tool_calls:
            add(_encode(message.tool_calls).decode())
        add(_CLOSE)
    if add_generation_prompt:
        add(GENERATION_PROMPT)
    return "".join(pieces)


def _header(role: str) -> str:
    return f"{START}{role}\n"


def render(request: Request, add_generation_prompt: bool = True) -> str:
    """Render a request; a completion prompt is its own rendering.

    One that its log cut ends with the content of its last message: what stands there is only a prefix.
    """
    if request.prompt is not None:
        return request.prompt
    if request.truncated:
        return _render_cut(request)
    return render_messages(request.messages, request.tools, add_generation_prompt)


def _render_cut(request: Request) -> str:
    if not request.messages:
        return ""
    *whole, last = request.messages
    before = render_messages(whole, request.tools, add_generation_prompt=False)
    return f"{before}{START}{last.role}\n{content_text(last.content)}"


def parse(text: str) -> tuple[list[Message], list[Any] | None, bool]:
    """Turn a *prefix* of a rendering back into ``(messages, tools, complete)``; the last message may be cut.

    ``complete`` is true when nothing was cut or dropped: the text ends where a message ends, or right after the
    generation prompt (which is dropped, since the engine adds it). A message cut in its content is kept as far as
    it goes, without a half end marker; one cut in its role header is dropped, and so is a tool that is cut. Text
    that is not such a rendering (a completion prompt) gives no messages and ``complete`` false.

    Tool calls come back as the text that they were rendered to, so rendering again gives the same text.
    """
    messages: list[Message] = []
    tools: list[Any] | None = None
    at = 0
    while text.startswith(START, at):
        header_end = text.find("\n", at)
        if header_end < 0:
            return messages, tools, False
        role = text[at + len(START) : header_end]
        end = text.find(END, header_end + 1)
        body = text[header_end + 1 :] if end < 0 else text[header_end + 1 : end]
        if at == 0 and role == "tools":
            tools = _parse_tools(body, cut=end < 0)
        elif end < 0 and not body and role == "assistant":
            return messages, tools, True
        else:
            messages.append(Message(role=role, content=body if end >= 0 else _without_half_marker(body)))
        if end < 0:
            return messages, tools, False
        at = end + len(END)
        at += text.startswith("\n", at)
    return messages, tools, at == len(text) and at > 0


def _parse_tools(body: str, *, cut: bool) -> list[Any]:
    lines = body.split("\n")
    tools = []
    for number, line in enumerate(lines):
        try:
            tools.append(msgspec.json.decode(line))
        except msgspec.DecodeError:
            if not (cut and number == len(lines) - 1):
                tools.append(line)
    return tools


def _without_half_marker(body: str) -> str:
    for length in range(min(len(END) - 1, len(body)), 0, -1):
        if body.endswith(END[:length]):
            return body[:-length]
    return body
