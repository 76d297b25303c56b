"""The sandbox as an :class:`~preheat.engines.engine.Engine` in the same process: for tests, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from preheat import __version__
from preheat.clock import Clock
from preheat.engines.engine import Generation, Prefill
from preheat.errors import EngineTimeout
from preheat.records.outcomes import Retention
from preheat.records.rendering import Prefix
from preheat.records.request import Request
from preheat.records.target import EngineInfo
from preheat.sandbox.chat import CHATML_TEMPLATE, prompt_text
from preheat.sandbox.engine import SandboxEngine, Token
from preheat.sandbox.settings import SandboxSettings
from preheat.sandbox.tokens import shared_token_ids


class InProcessEngine:
    """One replica of the sandbox, called directly. ``core`` is the engine behind it.

    Its times are on ``clock`` (default: the event loop's, which is virtual inside ``run_virtual``).
    """

    def __init__(
        self, settings: SandboxSettings | None = None, clock: Clock | None = None, *, name: str = "in-process"
    ) -> None:
        self.core = SandboxEngine(settings, clock)
        self._url = f"sandbox://{name}"

    @property
    def url(self) -> str:
        return self._url

    async def describe(self) -> EngineInfo:
        settings = self.core.settings
        return EngineInfo(
            kind="sandbox",
            url=self._url,
            model=settings.model,
            models=(settings.model, *settings.adapters),
            version=__version__,
            context_tokens=settings.max_model_len,
            block_tokens=settings.block_tokens,
            capacity_tokens=settings.capacity_tokens,
            retention=Retention.BLOCKS,
            chat_template=CHATML_TEMPLATE,
            reports_cached=settings.report_cached,
            parallel=settings.max_running,
        )

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> list[list[int]] | None:
        return [shared_token_ids(prefix.text, self.core.settings.chars_per_token) for prefix in prefixes]

    async def prefill(
        self,
        prefix: Prefix,
        token_ids: Sequence[int] | None,
        *,
        adapter: str | None = None,
        timeout_s: float = 120.0,
    ) -> Prefill:
        ids = list(token_ids) if token_ids is not None else self.core.tokenize(prefix.text)
        sent_s, received = await self._received(ids, 1, adapter, None, timeout_s)
        arrived_s, token = received[-1]
        return Prefill(
            prompt_tokens=token.served.prompt_tokens,
            cached_tokens=self._reported(token),
            prompt_ms=token.served.prefill_ms,
            wall_ms=(arrived_s - sent_s) * 1000,
        )

    async def generate(
        self, request: Request, *, max_tokens: int, namespace: str | None = None, timeout_s: float = 600.0
    ) -> Generation:
        ids = self.core.tokenize(prompt_text(request))
        sent_s, received = await self._received(ids, max_tokens, request.adapter, namespace, timeout_s)
        times_ms = [(arrived_s - sent_s) * 1000 for arrived_s, _ in received]
        last = received[-1][1]
        return Generation(
            ttft_ms=times_ms[0],
            total_ms=times_ms[-1],
            token_times_ms=times_ms,
            output_tokens=len(received),
            prompt_tokens=last.served.prompt_tokens,
            cached_tokens=self._reported(last),
            prompt_ms=last.served.prefill_ms,
            decode_ms=times_ms[-1] - times_ms[0],
            finish_reason=last.finish_reason,
        )

    async def counters(self) -> dict[str, float]:
        return self.core.counters()

    async def reset(self) -> bool:
        return self.core.cache.reset()

    async def close(self) -> None:
        """Nothing to release."""

    def _reported(self, token: Token) -> int | None:
        return token.served.cached_tokens if self.core.settings.report_cached else None

    async def _received(
        self, ids: Sequence[int], max_tokens: int, adapter: str | None, salt: str | None, timeout_s: float
    ) -> tuple[float, list[tuple[float, Token]]]:
        clock = self.core.clock
        sent_s = clock.now_s()
        stream = self.core.complete(ids, max_tokens=max_tokens, adapter=adapter, cache_salt=salt)
        try:
            async with asyncio.timeout(timeout_s), aclosing(stream):
                return sent_s, [(clock.now_s(), token) async for token in stream]
        except TimeoutError as error:
            raise EngineTimeout(f"{self._url} did not answer within {timeout_s:g} s", "allow more time") from error
