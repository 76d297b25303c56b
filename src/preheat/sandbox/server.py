"""The sandbox as an HTTP server on real time: ``async with serve(settings) as server: server.url``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from preheat.errors import BadInput
from preheat.sandbox.engine import SandboxEngine
from preheat.sandbox.settings import SandboxSettings


@dataclass(frozen=True)
class SandboxServer:
    """A running server: its address, and the engine behind it."""

    url: str
    core: SandboxEngine


@asynccontextmanager
async def serve(
    settings: SandboxSettings | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[SandboxServer]:
    """Serve until the block ends; port 0 takes a free one. Raises :class:`BadInput` where the port is taken."""
    from aiohttp import web

    from preheat.sandbox.routes import application

    core = SandboxEngine(settings)
    # A client that goes away cancels its handler, which gives the request's blocks back.
    runner = web.AppRunner(application(core), handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise BadInput(f"cannot listen on {host}:{port}: {error.strerror}", "choose another port") from error
        bound_port = runner.addresses[0][1]
        shown = f"[{host}]" if ":" in host else host
        yield SandboxServer(f"http://{shown}:{bound_port}", core)
    finally:
        await runner.cleanup()


def run(
    settings: SandboxSettings | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted (``KeyboardInterrupt`` comes through); ``on_ready`` is told the address."""

    async def forever() -> None:
        async with serve(settings, host=host, port=port) as server:
            if on_ready is not None:
                on_ready(server.url)
            await asyncio.get_running_loop().create_future()

    asyncio.run(forever())
