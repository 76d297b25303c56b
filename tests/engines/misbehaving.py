"""A small server that misbehaves on purpose, in the ways that real engines and the networks before them do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def answering(handler: Handler) -> AsyncIterator[str]:
    """A server that answers every request with ``handler``; its URL."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def replying(status: int, body: object, headers: dict[str, str] | None = None) -> Handler:
    """Always the same reply; what is no text is sent as JSON."""
    text = body if isinstance(body, str) else json.dumps(body)

    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=text, headers=headers)

    return handler


def streaming(pieces: list[bytes], *, die: bool = False, hang: bool = False) -> Handler:
    """Streams ``pieces`` as they are cut, then ends, breaks the connection, or never goes on."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(0.005)
        if hang:
            await asyncio.sleep(60)
        if die and request.transport is not None:
            request.transport.abort()
        return response

    return handler


async def hanging(_: web.Request) -> web.StreamResponse:
    """Takes the request and never answers."""
    await asyncio.sleep(60)
    return web.Response()


async def hanging_up(request: web.Request) -> web.StreamResponse:
    """Closes the connection without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def echoing_the_key(request: web.Request) -> web.StreamResponse:
    """Refuses the credentials, and is careless enough to repeat them."""
    key = request.headers.get("Authorization", "")
    return web.json_response({"error": {"message": f"Incorrect API key provided: {key}"}}, status=401)
