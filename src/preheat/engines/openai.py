"""Any endpoint that speaks OpenAI's routes: no tokenizer, no counters, its word on cached tokens where it gives it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from preheat.engines.engine import Generation, Prefill
from preheat.engines.payload import Chat, chat_of, chat_route, request_body, with_nonce
from preheat.engines.settings import EngineSettings
from preheat.engines.streaming import cached_of, generation_of, read_stream
from preheat.engines.wire import Wire
from preheat.errors import EngineGarbage, EngineRejected
from preheat.records.outcomes import Retention
from preheat.records.rendering import Prefix
from preheat.records.request import Request
from preheat.records.target import EngineInfo

_PROBE_TEXT = "One two three four five six seven eight nine ten. " * 30


class OpenAIEngine:
    """The generic adapter, and the base of those whose engines speak these routes as well."""

    kind = "openai"

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._info: EngineInfo | None = None
        self._asking = asyncio.Lock()
        self._has_completions: bool | None = None

    @classmethod
    def at(cls, url: str, settings: EngineSettings | None = None) -> OpenAIEngine:
        """The engine at ``url``; nothing is sent yet."""
        return cls(Wire(url, settings))

    @property
    def url(self) -> str:
        return self.wire.url

    async def describe(self) -> EngineInfo:
        """Asked once; the answer is kept for as long as the connection."""
        async with self._asking:
            if self._info is None:
                self._info = await self._ask()
            return self._info

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> list[list[int]] | None:
        return None

    async def prefill(
        self,
        prefix: Prefix,
        token_ids: Sequence[int] | None,
        *,
        adapter: str | None = None,
        timeout_s: float = 120.0,
    ) -> Prefill:
        """As text, or as messages where the prefix is in our default rendering. One token is generated."""
        info = await self.describe()
        chat = chat_of(prefix)
        if chat is not None:
            if not chat.messages:  # its tools alone; no endpoint takes a chat in which nobody speaks
                chat = chat.extended([{"role": "user", "content": "."}])
            return await self._prefill_chat(info, chat, adapter, timeout_s)
        if not await self.has_completions():
            raise EngineRejected(
                f"the engine at {self.url} takes only messages, and this prefix is text under another template",
                "mine with the default rendering",
            )
        prompt = list(token_ids) if token_ids is not None else prefix.text
        return await self._prefill_route("/v1/completions", {"prompt": prompt}, info, adapter, timeout_s)

    async def generate(
        self, request: Request, *, max_tokens: int, namespace: str | None = None, timeout_s: float = 600.0
    ) -> Generation:
        info = await self.describe()
        body = request_body(request, model=request.adapter or info.model, max_tokens=max_tokens)
        if namespace is not None:
            body = self._in_namespace(body, namespace)
        path = chat_route(body)
        reading = await read_stream(self.wire.stream(path, body, timeout_s=timeout_s), self.wire.where(path))
        return generation_of(reading, self._cached(reading.usage, info))

    async def counters(self) -> dict[str, float]:
        return {}

    async def reset(self) -> bool:
        return False

    async def close(self) -> None:
        await self.wire.close()

    async def has_completions(self) -> bool:
        """Whether the endpoint has ``/v1/completions``; found out by asking once."""
        if self._has_completions is None:
            body = {"model": (await self.describe()).model, "prompt": "Hi", "max_tokens": 1}
            try:
                await self.wire.post_json("/v1/completions", body)
                self._has_completions = True
            except EngineRejected:
                self._has_completions = False
        return self._has_completions

    async def _ask(self) -> EngineInfo:
        models = await self._models()
        model = self.wire.settings.model or (models[0] if models else "")
        return EngineInfo(
            kind=self.kind,
            url=self.url,
            model=model,
            models=models,
            block_tokens=self.wire.settings.block_tokens,
            retention=Retention.BLOCKS,
            reports_cached=await self._probe_cached(model),
        )

    async def _models(self) -> tuple[str, ...]:
        try:
            return tuple(entry["id"] for entry in (await self.wire.get_json("/v1/models"))["data"])
        except EngineRejected:  # not every gateway lists its models
            return ()
        except (KeyError, TypeError) as error:
            raise EngineGarbage(f"{self.wire.where('/v1/models')} did not list models") from error

    async def _probe_cached(self, model: str) -> bool:
        """Whether replies carry cached tokens: the same small prompt twice at most, one token each.

        Twice, because some engines leave the field out while it is zero.
        """
        chat = Chat([{"role": "user", "content": _PROBE_TEXT}])
        body = {"model": model, "max_tokens": 1, **chat.body()}
        for _ in range(2):
            reply = await self.wire.post_json("/v1/chat/completions", body, timeout_s=120.0)
            if cached_of(usage_of(reply)) is not None:
                return True
        return False

    async def _prefill_chat(self, info: EngineInfo, chat: Chat, adapter: str | None, timeout_s: float) -> Prefill:
        return await self._prefill_route("/v1/chat/completions", chat.body(), info, adapter, timeout_s)

    async def _prefill_route(
        self, path: str, prompt: dict[str, Any], info: EngineInfo, adapter: str | None, timeout_s: float
    ) -> Prefill:
        body = {"model": adapter or info.model, "max_tokens": 1, "temperature": 0.0, **prompt}
        sent_s = self.wire.clock.now_s()
        usage = usage_of(await self.wire.post_json(path, body, timeout_s=timeout_s))
        return Prefill(
            prompt_tokens=_tokens(usage, self.wire.where(path)),
            cached_tokens=self._cached(usage, info),
            prompt_ms=None,
            wall_ms=(self.wire.clock.now_s() - sent_s) * 1e3,
        )

    def _in_namespace(self, body: dict[str, Any], namespace: str) -> dict[str, Any]:
        return with_nonce(body, namespace)

    def _cached(self, usage: dict[str, Any], info: EngineInfo) -> int | None:
        """An engine that reports cached tokens may leave the field out where there are none."""
        cached = cached_of(usage)
        return 0 if cached is None and info.reports_cached and usage else cached


def usage_of(reply: Any) -> dict[str, Any]:
    """The ``usage`` of a reply; empty where it has none."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    return usage if isinstance(usage, dict) else {}


def _tokens(usage: dict[str, Any], where: str) -> int:
    count = usage.get("prompt_tokens")
    if not isinstance(count, int):
        raise EngineGarbage(f"{where} did not count the prompt's tokens")
    return count
