"""Where a prefix ends in tokens: the ids that every prompt beginning with it shares.

A prefix ends somewhere in the text, and its last characters may become other tokens once text follows: half a word
becomes a word, a newline becomes two. So it is tokenised going on as it is, and with its last run of characters
replaced, and what all of these begin with is what is shared (longest common prefix of the ids; ours). At most the
last word is given up, never a token too many claimed. A prefix under our default rendering is first parsed back into
messages, which then go through the engine's own chat template.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from preheat.engines.payload import Chat, chat_of
from preheat.errors import EngineRejected
from preheat.records.rendering import Prefix

_TAIL = re.compile(
    r"(?P<marker>[<\[][^<>\[\]\s]{0,40}\Z)"  # it may become one special token: <|im_
    r"|(?P<lead>[^\S\r\n]?)(?:(?P<word>\w{1,24})|(?P<signs>[^\w\s]{1,24}))\Z"
    r"|(?P<space>\s{1,64}\Z)"
)


class Tokenizer(Protocol):
    """An engine's own tokenizer, as its routes offer it."""

    async def text_ids(self, prefix: Prefix, text: str) -> list[int]:
        """Ids of ``text``, which begins like ``prefix``, just as the engine would tokenise such a prompt."""
        ...

    async def chat_ids(self, chat: Chat) -> list[int]:
        """Ids of the prompt that the engine's own template makes of a chat."""
        ...


async def shared_tokens(tokenizer: Tokenizer, prefixes: Sequence[Prefix], in_flight: int) -> list[list[int]]:
    """See :meth:`preheat.engines.engine.Engine.shared_tokens`. At most ``in_flight`` prefixes are asked for at once."""
    gate = asyncio.Semaphore(in_flight)

    async def one(prefix: Prefix) -> list[int]:
        async with gate:
            chat = chat_of(prefix)
            return await (_of_text(tokenizer, prefix) if chat is None else _of_chat(tokenizer, chat))

    return await asyncio.gather(*(one(prefix) for prefix in prefixes))


def common_prefix(sequences: Iterable[Sequence[int]]) -> list[int]:
    """The longest common prefix of id sequences; empty for none."""
    rest = iter(sequences)
    shared = list(next(rest, ()))
    for ids in rest:
        pairs = enumerate(zip(shared, ids, strict=False))
        del shared[next((i for i, (a, b) in pairs if a != b), len(ids)) :]
    return shared


def continued_texts(text: str) -> list[str]:
    """``text`` going on as it is, and twice with its last word, run of signs or white space replaced."""
    tail = _TAIL.search(text, max(0, len(text) - 80))
    if tail is None:
        return [text + "b", text + "\n\nb"]
    head, lead = text[: tail.start()], tail["lead"] or ""
    if tail["space"]:
        return [text + "b", head + " zq", head + "\n\n\n\n"]
    others = ("zq", "xv") if tail["word"] else ("~", "?!")
    return [text + "\n\nb", *(head + lead + other for other in others)]


def continued_chats(chat: Chat) -> list[Chat]:
    """``chat`` going on in different ways, each of them a conversation that a strict template accepts."""
    if not chat.messages:
        more_tools = [[]] if chat.complete else [[_tool("s")], [_tool("a")]]
        grown = [replace(chat, tools=[*(chat.tools or []), *more]) for more in more_tools]
        return [one.extended([{"role": role, "content": role}]) for one in grown for role in ("user", "system")]
    last = chat.messages[-1]
    if chat.complete:
        return [chat.extended([{"role": role, "content": text}]) for role, text in _next_turns(last["role"])]
    return [
        chat.with_text(text).extended(_follow_up(last["role"], long=i % 2 == 1))
        for i, text in enumerate(continued_texts(last["content"] or ""))
    ]


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}


def _next_turns(role: str) -> list[tuple[str, str]]:
    usual, other = ("assistant", "user") if role == "user" else ("user", "assistant")
    return [(usual, "s"), (usual, "1 a"), (other, "b")]


def _follow_up(role: str, *, long: bool) -> list[dict[str, Any]]:
    """Whatever must follow for the conversation to end with a user's turn, or more of it."""
    user, assistant = {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}
    if role in ("user", "tool"):
        return [assistant, user] if long else []
    return [user, assistant, user] if long else [user]


async def _of_text(tokenizer: Tokenizer, prefix: Prefix) -> list[int]:
    return common_prefix([await tokenizer.text_ids(prefix, text) for text in continued_texts(prefix.text)])


async def _of_chat(tokenizer: Tokenizer, chat: Chat) -> list[int]:
    sequences: list[list[int]] = []
    refused: EngineRejected | None = None
    for variant in continued_chats(chat):
        try:
            sequences.append(await tokenizer.chat_ids(variant))
        except EngineRejected as error:  # a template may refuse a role out of turn; two that pass are enough
            refused = error
    if len(sequences) < 2 and refused is not None:
        raise refused
    return common_prefix(sequences)
