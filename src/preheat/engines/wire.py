"""The one HTTP client that all adapters share: every failure leaves it as one of our own faults."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from preheat.clock import Clock, RealClock
from preheat.engines.faults import fault_of_event, fault_of_reply
from preheat.engines.settings import EngineSettings
from preheat.engines.sse import DONE, EventParser
from preheat.errors import BadInput, EngineFailed, EngineGarbage, EngineTimeout, EngineUnreachable

if TYPE_CHECKING:
    import aiohttp

_KEEPALIVE_S = 2.0  # shorter than any engine's own, so that it never hangs up on a request just sent


class Wire:
    """Requests to one base URL. ``url`` is fit for messages: no user, no password, no ``/v1`` at its end."""

    def __init__(self, url: str, settings: EngineSettings | None = None, clock: Clock | None = None) -> None:
        self.settings = settings or EngineSettings()
        self.clock = clock or RealClock()
        self.url, self._user = _base_url(url)
        self.keep_alive = True
        """Whether connections are used again; not with servers that give a thread to each open connection."""
        self._session: aiohttp.ClientSession | None = None
        self._key = self._read_key()

    async def get_json(self, path: str, *, timeout_s: float | None = None) -> Any:
        """GET and decode. Raises :class:`preheat.errors.EngineFault` and its kin, as all methods here."""
        return self._decode(path, await self.get_text(path, timeout_s=timeout_s))

    async def get_text(self, path: str, *, timeout_s: float | None = None) -> str:
        """GET, and the body as text."""
        async with self._reply("GET", path, None, timeout_s) as reply:
            return await reply.text(errors="replace")

    async def post_json(self, path: str, body: Any, *, timeout_s: float | None = None) -> Any:
        """POST ``body`` as JSON and decode the answer; an ``error`` object within it is raised."""
        async with self._reply("POST", path, body, timeout_s) as reply:
            text = await reply.text(errors="replace")
        decoded = self._decode(path, text)
        if isinstance(decoded, dict) and decoded.get("error"):
            raise fault_of_event(self.where(path), self._scrub_object(decoded["error"]))
        return decoded

    async def stream(self, path: str, body: Any, *, timeout_s: float | None = None) -> AsyncIterator[tuple[float, Any]]:
        """POST and yield ``(ms since sending, decoded event)``, until ``[DONE]`` or the stream's end."""
        sent_s = self.clock.now_s()
        parser = EventParser()
        async with self._reply("POST", path, body, timeout_s) as reply:
            async for chunk in reply.content.iter_any():
                elapsed_ms = (self.clock.now_s() - sent_s) * 1e3
                for data in self._events(path, parser, chunk):
                    if data == DONE:
                        return
                    event = self._decode(path, data)
                    if isinstance(event, dict) and event.get("error"):
                        raise fault_of_event(self.where(path), self._scrub_object(event["error"]))
                    yield elapsed_ms, event

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def where(self, path: str) -> str:
        """How messages name a route of this engine."""
        return f"the engine at {self.url} ({path.split('?')[0]})"

    def scrub(self, text: str) -> str:
        """``text`` without any secret that we send."""
        secrets = [self._key, self._user[1] if self._user else None, *self.settings.headers.values()]
        for secret in sorted((s for s in secrets if s and len(s) > 3), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    @asynccontextmanager
    async def _reply(
        self, method: str, path: str, body: Any, timeout_s: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        limit_s = self.settings.timeout_s if timeout_s is None else timeout_s
        timeout = aiohttp.ClientTimeout(total=limit_s, sock_connect=self.settings.connect_timeout_s)
        with self._own_faults(path, limit_s):
            headers = None if self.keep_alive else {"Connection": "close"}
            request = self._open().request(method, self.url + path, json=body, timeout=timeout, headers=headers)
            async with request as reply:
                if reply.status >= 400:
                    text = self.scrub(await reply.text(errors="replace"))
                    raise fault_of_reply(self.where(path), reply.status, text, reply.headers)
                yield reply

    @contextmanager
    def _own_faults(self, path: str, limit_s: float) -> Iterator[None]:
        import aiohttp

        where = self.where(path)
        try:
            yield
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            reason = self.scrub(str(error)) or type(error).__name__
            raise EngineUnreachable(
                f"cannot reach {where}: {reason}", "is it running, and is the URL right?"
            ) from error
        except TimeoutError as error:
            raise EngineTimeout(f"{where} did not answer within {limit_s:g} s", "allow it more time") from error
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientOSError) as error:
            raise EngineFailed(f"{where} closed the connection half-way", "see the engine's own log") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise EngineGarbage(f"{where} does not speak HTTP as expected: {type(error).__name__}") from error

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_S, ssl=self._ssl())
            auth = aiohttp.BasicAuth(*self._user) if self._user else None
            headers = dict(self.settings.headers)
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
                auth = None
            self._session = aiohttp.ClientSession(
                connector=connector, headers=headers, auth=auth, trust_env=self.settings.trust_env
            )
        return self._session

    def _ssl(self) -> ssl.SSLContext | bool:
        settings = self.settings
        if not (settings.ca_cert or settings.client_cert):
            return True
        try:
            context = ssl.create_default_context(cafile=settings.ca_cert)
            if settings.client_cert:
                context.load_cert_chain(settings.client_cert, settings.client_key)
        except OSError as error:  # ssl.SSLError is one
            raise BadInput(f"cannot use the certificates given for {self.url}: {error}", "give PEM files") from error
        return context

    def _read_key(self) -> str | None:
        name = self.settings.api_key_env
        if name is None:
            return None
        key = os.environ.get(name, "").strip()
        if not key:
            raise BadInput(f"the environment variable {name} holds no API key", f"export {name}=...")
        return key

    def _events(self, path: str, parser: EventParser, chunk: bytes) -> list[str]:
        try:
            return parser.feed(chunk)
        except UnicodeDecodeError as error:
            raise EngineGarbage(f"{self.where(path)} streamed something that is not text") from error

    def _decode(self, path: str, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            excerpt = " ".join(self.scrub(text).split())[:120]
            raise EngineGarbage(f"{self.where(path)} answered something that is not JSON: {excerpt!r}") from error

    def _scrub_object(self, error: Any) -> Any:
        return json.loads(self.scrub(json.dumps(error)))


def _base_url(url: str) -> tuple[str, tuple[str, str] | None]:
    parts = urlsplit(url.strip())
    try:
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError as error:
        raise BadInput(f"the port in {url!r} is not a port") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{url!r} is not the URL of an engine", "write it like http://127.0.0.1:8000")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix("/v1")
    user = (parts.username, parts.password or "") if parts.username else None
    return urlunsplit((parts.scheme, host + port, path, "", "")), user
