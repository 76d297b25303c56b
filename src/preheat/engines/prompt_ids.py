"""Whole prompts and plain texts through an engine's own tokenizer, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from preheat.engines.engine import Engine
from preheat.engines.payload import Chat, message_object
from preheat.errors import BadInput, EngineRejected
from preheat.prompts.render import PromptNotRenderable
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Request

T = TypeVar("T")
_IN_FLIGHT = 8


@runtime_checkable
class Tokenizing(Protocol):
    """What adapters of engines with a tokenizer route can do (see :mod:`preheat.engines.boundary`)."""

    async def text_ids(self, prefix: Prefix, text: str) -> list[int]: ...

    async def chat_ids(self, chat: Chat) -> list[int]: ...


def tokenizing(engine: Engine) -> Tokenizing:
    """The same engine. Raises :class:`BadInput` where it has no tokenizer route."""
    if not isinstance(engine, Tokenizing):
        raise BadInput(f"the engine at {engine.url} has no tokenizer route", "give the model's tokenizer with --model")
    return engine


async def prompt_ids(
    engine: Tokenizing, requests: Sequence[Request], texts: Sequence[str], rendering: Rendering | None
) -> list[list[int] | PromptNotRenderable]:
    """The ids of each request's whole prompt; in its place the refusal, where the engine refuses one.

    ``texts`` are the rendered prompts. They are sent where ``rendering``, the engine's own, made them; where it is
    not known the chats themselves are, for the engine to render.
    """

    async def one(request: Request, text: str) -> list[int] | PromptNotRenderable:
        try:
            if request.prompt is not None:
                return await engine.text_ids(Prefix(text, Rendering()), text)
            if rendering is not None:
                return await engine.text_ids(Prefix(text, rendering), text)
            if request.truncated:
                return PromptNotRenderable("the log cut it, and the engine does not tell its template")
            return await engine.chat_ids(Chat([message_object(each) for each in request.messages], request.tools))
        except EngineRejected as refusal:
            return PromptNotRenderable(refusal.message)

    return await _together(one(request, text) for request, text in zip(requests, texts, strict=True))


async def text_counts(engine: Tokenizing, texts: Sequence[str]) -> list[int]:
    """How many tokens each text has for the engine, next to no special ones."""
    prefix = Prefix("", Rendering(template=""))  # of any template: nothing is added in front
    return [len(ids) for ids in await _together(engine.text_ids(prefix, text) for text in texts)]


async def _together(calls: Iterable[Awaitable[T]]) -> list[T]:
    gate = asyncio.Semaphore(_IN_FLIGHT)

    async def one(call: Awaitable[T]) -> T:
        async with gate:
            return await call

    return await asyncio.gather(*(one(call) for call in calls))
