"""The one HTTP client that all adapters share: every failure leaves it as one of our own faults."""

from __future__ import annotations

import base64
import json
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from preheat.clock import Clock, RealClock
from preheat.engines.address import base_url, check_headers, check_key, redirect_target
from preheat.engines.counts import REMEDY
from preheat.engines.faults import fault_of_event, fault_of_reply
from preheat.engines.settings import EngineSettings
from preheat.engines.shown import shown
from preheat.engines.sse import DONE, EventParser, EventTooLong
from preheat.errors import BadInput, EngineFailed, EngineGarbage, EngineTimeout, EngineUnreachable

if TYPE_CHECKING:
    import aiohttp

_KEEPALIVE_S = 2.0  # shorter than any engine's own, so that it never hangs up on a request just sent
_LONGEST_REPLY_BYTES = 64 * 2**20
_LONGEST_ERROR_BYTES = 2**18


class Wire:
    """Requests to one base URL. ``url`` is fit for messages: no user, no password, no ``/v1`` at its end."""

    def __init__(self, url: str, settings: EngineSettings | None = None, clock: Clock | None = None) -> None:
        self.settings = settings or EngineSettings()
        self.clock = clock or RealClock()
        self.url, self._user = base_url(url)
        check_headers(self.settings.headers)
        self.keep_alive = True
        """Whether connections are used again; not with servers that give a thread to each open connection."""
        self._session: aiohttp.ClientSession | None = None
        self._key = self._read_key()
        self._secrets = self._all_secrets()

    async def get_json(self, path: str, *, timeout_s: float | None = None) -> Any:
        """GET and decode. Raises :class:`preheat.errors.EngineFault` and its kin, as all methods here."""
        return self._decode(path, await self.get_text(path, timeout_s=timeout_s))

    async def get_text(self, path: str, *, timeout_s: float | None = None) -> str:
        """GET, and the body as text."""
        async with self._reply("GET", path, None, timeout_s) as reply:
            return await self._whole(path, reply)

    async def post_json(self, path: str, body: Any, *, timeout_s: float | None = None) -> Any:
        """POST ``body`` as JSON and decode the answer; an ``error`` object within it is raised."""
        async with self._reply("POST", path, body, timeout_s) as reply:
            text = await self._whole(path, reply)
        decoded = self._decode(path, text)
        self._raise_error_in(path, decoded)
        return decoded

    async def stream(
        self, path: str, body: Any, *, timeout_s: float | None = None
    ) -> AsyncGenerator[tuple[float, Any]]:
        """POST and yield ``(ms since sending, decoded event)``, until ``[DONE]`` or the stream's end.

        Whoever does not read it to its end closes it (``contextlib.aclosing``).
        """
        sent_s = self.clock.now_s()
        parser = EventParser()
        async with self._reply("POST", path, body, timeout_s) as reply:
            async for chunk in reply.content.iter_any():
                elapsed_ms = (self.clock.now_s() - sent_s) * 1e3
                for data in self._events(path, parser, chunk):
                    if data == DONE:
                        return
                    event = self._decode(path, data)
                    self._raise_error_in(path, event)
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
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    @asynccontextmanager
    async def _reply(
        self, method: str, path: str, body: Any, timeout_s: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        limit_s = self.settings.timeout_s if timeout_s is None else timeout_s
        timeout = aiohttp.ClientTimeout(total=limit_s, sock_connect=self.settings.connect_timeout_s)
        data = json.dumps(body).encode() if method == "POST" else None
        with self._own_faults(path, limit_s):
            headers = {"Content-Type": "application/json"} if method == "POST" else {}
            if not self.keep_alive:
                headers["Connection"] = "close"
            request = self._open().request(
                method,
                self.url + path,
                data=data,
                timeout=timeout,
                headers=headers,
                allow_redirects=False,  # prompts and credentials are for the host that the user named
            )
            async with request as reply:
                await self._refuse(path, reply)
                yield reply

    async def _refuse(self, path: str, reply: aiohttp.ClientResponse) -> None:
        """Raise what an error reply, or a redirection, stands for."""
        where = self.where(path)
        if 300 <= reply.status < 400:
            location = self.scrub(redirect_target(self.url, path, reply.headers.get("Location", "nowhere")))
            raise EngineGarbage(f"{where} redirects to {location} (HTTP {reply.status})", "give that URL")
        if reply.status >= 400:
            text = (await self._bytes(reply, _LONGEST_ERROR_BYTES)).decode(errors="replace")
            raise fault_of_reply(where, reply.status, text, reply.headers, self.scrub)

    async def _whole(self, path: str, reply: aiohttp.ClientResponse) -> str:
        body = await self._bytes(reply, _LONGEST_REPLY_BYTES)
        if len(body) > _LONGEST_REPLY_BYTES:
            limit_mib = _LONGEST_REPLY_BYTES >> 20
            raise EngineGarbage(f"{self.where(path)} sent a reply of more than {limit_mib} MiB", REMEDY)
        return body.decode(errors="replace")

    async def _bytes(self, reply: aiohttp.ClientResponse, limit_bytes: int) -> bytearray:
        """The body, read until it has ended or passed the limit."""
        body = bytearray()
        async for chunk in reply.content.iter_any():
            body += chunk
            if len(body) > limit_bytes:
                break
        return body

    @contextmanager
    def _own_faults(self, path: str, limit_s: float) -> Iterator[None]:
        import aiohttp

        where = self.where(path)
        try:
            yield
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            reason = shown(self.scrub(str(error))) or type(error).__name__
            raise EngineUnreachable(
                f"cannot reach {where}: {reason}", "is it running, and is the URL right?"
            ) from error
        except TimeoutError as error:
            raise EngineTimeout(f"{where} did not answer within {limit_s:g} s", "allow it more time") from error
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientOSError) as error:
            raise EngineFailed(f"{where} closed the connection half-way", "see the engine's own log") from error
        except (aiohttp.ClientError, ConnectionError, ValueError, LookupError, ArithmeticError) as error:
            raise EngineGarbage(f"{where} does not speak HTTP as expected: {type(error).__name__}", REMEDY) from error

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_S, ssl=self._ssl())
            own = {name: value for name, value in self.settings.headers.items() if name.lower() != "authorization"}
            self._session = aiohttp.ClientSession(
                connector=connector, headers=own, middlewares=(self._authorize,), trust_env=self.settings.trust_env
            )
        return self._session

    async def _authorize(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """The key, else the user of the URL, else a header of the settings; over what a netrc file says."""
        given = [value for name, value in self.settings.headers.items() if name.lower() == "authorization"]
        if self._key:
            given = [f"Bearer {self._key}"]
        elif self._user:
            given = [f"Basic {_basic(self._user)}"]
        if given:
            request.headers["Authorization"] = given[-1]
        return await handler(request)

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
        check_key(name, key)
        return key

    def _all_secrets(self) -> list[str]:
        """What must never stand in a message, longest first; too short ones would make holes in any text."""
        secrets = [self._key or "", *self.settings.headers.values()]
        if self._user:
            secrets += [self._user[1], quote(self._user[1], safe=""), _basic(self._user)]
        return sorted((secret for secret in set(secrets) if len(secret) > 3), key=len, reverse=True)

    def _events(self, path: str, parser: EventParser, chunk: bytes) -> list[str]:
        try:
            return parser.feed(chunk)
        except EventTooLong as error:
            raise EngineGarbage(f"{self.where(path)} streamed an event of more than 8 MiB", REMEDY) from error
        except UnicodeDecodeError as error:
            raise EngineGarbage(f"{self.where(path)} streamed something that is not text", REMEDY) from error

    def _decode(self, path: str, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            excerpt = shown(self.scrub(text), 120)
            raise EngineGarbage(
                f"{self.where(path)} answered something that is not JSON: {excerpt!r}", REMEDY
            ) from error

    def _raise_error_in(self, path: str, decoded: Any) -> None:
        """Raise the error that a reply with HTTP 200 carries; older vLLMs make the whole reply one."""
        if isinstance(decoded, dict):
            error = decoded.get("error") or (decoded if decoded.get("object") == "error" else None)
            if error:
                raise fault_of_event(self.where(path), error, self.scrub)


def _basic(user: tuple[str, str]) -> str:
    return base64.b64encode(":".join(user).encode()).decode()
