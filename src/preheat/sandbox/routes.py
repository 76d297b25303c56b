"""The sandbox's HTTP routes, as vLLM has them. Imports aiohttp: import this module only to serve."""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import msgspec
from aiohttp import web

from preheat import __version__
from preheat.errors import EngineFault, EngineGarbage, EngineOverloaded, EngineRejected, EngineUnreachable
from preheat.sandbox.chat import CHATML_TEMPLATE
from preheat.sandbox.engine import DiedHalfWay, SandboxEngine, UnknownModel
from preheat.sandbox.wire import Body, Reply, answer_limit_of, parse_body, token_ids_of

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_MOST_BODY_BYTES = 256 * 1024 * 1024


def application(core: SandboxEngine) -> web.Application:
    """The routes of ``core`` as an aiohttp application."""
    routes = _Routes(core)
    app = web.Application(middlewares=[routes.guarded], client_max_size=_MOST_BODY_BYTES)
    app.add_routes(
        [
            web.get("/health", routes.health),
            web.get("/version", routes.version),
            web.get("/metrics", routes.metrics),
            web.get("/v1/models", routes.models),
            web.post("/v1/chat/completions", routes.chat_completions),
            web.post("/v1/completions", routes.completions),
            web.post("/tokenize", routes.tokenize),
            web.get("/tokenizer_info", routes.tokenizer_info),
            web.post("/reset_prefix_cache", routes.reset_prefix_cache),
        ]
    )
    return app


class _Routes:
    def __init__(self, core: SandboxEngine) -> None:
        self._core = core
        self._started_s = int(time.time())

    @web.middleware
    async def guarded(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Checks the key and turns faults into vLLM's replies."""
        key = self._core.settings.api_key
        if key is not None and request.path.startswith("/v1"):
            given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, f"Bearer {key}".encode()):
                return _json({"error": "Unauthorized"}, status=401)
        try:
            return await handler(request)
        except (EngineUnreachable, DiedHalfWay):
            return _broken_off(request)
        except EngineGarbage:
            return web.Response(body=b"\x00<html>not the protocol", content_type="text/html")
        except EngineFault as fault:
            return _json(_error(fault), status=_status(fault))

    async def health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def version(self, _: web.Request) -> web.Response:
        return _json({"version": f"preheat-sandbox-{__version__}"})

    async def metrics(self, _: web.Request) -> web.Response:
        return web.Response(text=self._core.metrics(), headers={"Content-Type": "text/plain; version=0.0.4"})

    async def models(self, _: web.Request) -> web.Response:
        settings = self._core.settings
        cards = [self._card(settings.model, None)]
        cards += [self._card(adapter, settings.model) for adapter in settings.adapters]
        return _json({"object": "list", "data": cards})

    async def chat_completions(self, request: web.Request) -> web.StreamResponse:
        return await self._complete(request, chat=True)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        return await self._complete(request, chat=False)

    async def tokenize(self, request: web.Request) -> web.Response:
        body = parse_body(await request.read())
        self._core.adapter_of(body.model)
        ids = token_ids_of(body, self._core, chat=body.messages is not None)
        return _json({"count": len(ids), "max_model_len": self._core.settings.max_model_len, "tokens": ids})

    async def tokenizer_info(self, _: web.Request) -> web.Response:
        info = {"tokenizer_class": "SandboxTokenizer", "chat_template": CHATML_TEMPLATE}
        return _json({**info, "model_max_length": self._core.settings.max_model_len})

    async def reset_prefix_cache(self, _: web.Request) -> web.Response:
        return _json({"success": self._core.cache.reset()})

    async def _complete(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        core, raw = self._core, await request.read()
        arrived_s, body = core.clock.now_s(), parse_body(raw)
        if body.n not in (None, 1):
            raise EngineRejected("the sandbox gives one answer: n must be 1")
        adapter, limit = core.adapter_of(body.model), answer_limit_of(body, chat=chat)
        ids = token_ids_of(body, core, chat=chat)
        model = adapter or core.settings.model
        reply = Reply(core.requests, model, chat=chat, report_cached=core.settings.report_cached)
        salt = body.cache_salt
        stream = core.complete(ids, max_tokens=limit, adapter=adapter, cache_salt=salt, arrived_s=arrived_s)
        async with aclosing(stream) as tokens:
            if body.stream:
                return await _streamed(request, tokens, reply, body)
            return web.Response(body=reply.whole([token async for token in tokens]), content_type="application/json")

    def _card(self, name: str, parent: str | None) -> dict[str, Any]:
        most = self._core.settings.max_model_len
        card = {"id": name, "object": "model", "created": self._started_s, "owned_by": "preheat"}
        return {**card, "root": name, "parent": parent, "max_model_len": most}


async def _streamed(request: web.Request, tokens: Any, reply: Reply, body: Body) -> web.StreamResponse:
    """Writes server-sent events. The reply's head goes out with the first token, so that early faults have a status."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    count = 0
    async for token in tokens:
        if not response.prepared:
            await response.prepare(request)
        count += 1
        await response.write(reply.chunk(token))
        last = token
    if body.stream_options is not None and body.stream_options.include_usage:
        await response.write(reply.usage_chunk(last.served, count))
    await response.write(b"data: [DONE]\n\n")
    return response


def _broken_off(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


def _status(fault: EngineFault) -> int:
    if isinstance(fault, UnknownModel):
        return 404
    if isinstance(fault, EngineRejected):
        return 400
    return 503 if isinstance(fault, EngineOverloaded) else 500


def _error(fault: EngineFault) -> dict[str, Any]:
    kinds = {400: "BadRequestError", 404: "NotFoundError", 503: "ServiceUnavailableError"}
    status = _status(fault)
    kind = kinds.get(status, "InternalServerError")
    return {"error": {"message": fault.message, "type": kind, "param": None, "code": status}}


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")
