"""Any endpoint that speaks OpenAI's routes: no tokenizer, no counters, its word on cached tokens where it gives it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from preheat.engines.counts import REMEDY, generation_of, maybe_count, name_of, prefill_of, token_ids_of, understanding
from preheat.engines.engine import Generation, Prefill
from preheat.engines.payload import Chat, chat_of, chat_route, request_body, with_nonce
from preheat.engines.settings import EngineSettings
from preheat.engines.streaming import StreamReading, cached_of, read_stream
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
        reading = await self._read(path, body, max_tokens, timeout_s)
        return self._generation(path, reading, self._cached(reading.usage, info))

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
            listing = await self.wire.get_json("/v1/models")
        except EngineRejected:  # not every gateway lists its models
            return ()
        where = self.wire.where("/v1/models")
        with understanding(where, "did not list models"):
            return tuple(name_of(entry["id"], where, "model name") for entry in listing["data"])

    async def _probe_cached(self, model: str) -> bool:
        """Whether replies carry cached tokens: the same small prompt twice at most, one token each.

        Twice, because some engines leave the field out while it is zero.
        """
        chat = Chat([{"role": "user", "content": _PROBE_TEXT}])
        body = {"model": model, "max_tokens": 1, **chat.body()}
        for _ in range(2):
            if await self._says_cached("/v1/chat/completions", body):
                return True
        return False

    async def _says_cached(self, path: str, body: dict[str, Any]) -> bool:
        where = self.wire.where(path)
        cached = cached_of(usage_of(await self.wire.post_json(path, body, timeout_s=120.0), where))
        return maybe_count(cached, where, "cached_tokens") is not None

    async def _prefill_chat(self, info: EngineInfo, chat: Chat, adapter: str | None, timeout_s: float) -> Prefill:
        return await self._prefill_route("/v1/chat/completions", chat.body(), info, adapter, timeout_s)

    async def _prefill_route(
        self, path: str, prompt: dict[str, Any], info: EngineInfo, adapter: str | None, timeout_s: float
    ) -> Prefill:
        body = {"model": adapter or info.model, "max_tokens": 1, "temperature": 0.0, **prompt}
        sent_s = self.wire.clock.now_s()
        reply = await self.wire.post_json(path, body, timeout_s=timeout_s)
        wall_ms = (self.wire.clock.now_s() - sent_s) * 1e3
        usage = usage_of(reply, self.wire.where(path))
        return prefill_of(
            self.wire.where(path),
            prompt_tokens=usage.get("prompt_tokens"),
            cached_tokens=self._cached(usage, info),
            prompt_ms=None,
            wall_ms=wall_ms,
        )

    async def _read(self, path: str, body: dict[str, Any], max_tokens: int, timeout_s: float) -> StreamReading:
        events = self.wire.stream(path, body, timeout_s=timeout_s)
        return await read_stream(events, self.wire.where(path), max_tokens)

    def _generation(self, path: str, reading: StreamReading, cached_tokens: Any) -> Generation:
        return generation_of(
            self.wire.where(path),
            token_times_ms=reading.token_times_ms,
            last_ms=reading.last_ms,
            usage=reading.usage,
            cached_tokens=cached_tokens,
            timings=reading.timings,
            finish_reason=reading.finish_reason,
        )

    def _token_ids(self, reply: Any) -> list[int]:
        """The ids in a reply of ``/tokenize``, which llama.cpp and vLLM both have."""
        return token_ids_of(reply.get("tokens") if isinstance(reply, dict) else None, self.wire.where("/tokenize"))

    def _in_namespace(self, body: dict[str, Any], namespace: str) -> dict[str, Any]:
        return with_nonce(body, namespace)

    def _cached(self, usage: dict[str, Any], info: EngineInfo) -> Any:
        """As it was sent. An engine that reports cached tokens may leave the field out where there are none."""
        cached = cached_of(usage)
        return 0 if cached is None and info.reports_cached and usage else cached


def usage_of(reply: Any, where: str) -> dict[str, Any]:
    """The ``usage`` of a reply; empty where it has none. Raises :class:`EngineGarbage` for what is no reply."""
    if not isinstance(reply, dict) or not ("usage" in reply or "choices" in reply):
        raise EngineGarbage(f"{where} gave neither choices nor usage", REMEDY)
    usage = reply.get("usage")
    if not isinstance(usage, dict | None):
        raise EngineGarbage(f"{where} gave a usage that is not an object", REMEDY)
    return usage or {}
