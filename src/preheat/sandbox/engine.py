"""The sandbox engine itself: prompts in, tokens out, on whatever clock it is given; no sockets."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from preheat.clock import Clock, LoopClock
from preheat.errors import ContextExceeded, EngineFailed, EngineGarbage, EngineRejected, EngineUnreachable
from preheat.sandbox.cache import Lease, PrefixCache, chain_of
from preheat.sandbox.metrics import Counters, exposition
from preheat.sandbox.scheduler import ComputeUnit, Scheduler
from preheat.sandbox.settings import SandboxSettings
from preheat.sandbox.tokens import AnswerText, token_id, tokenize

SWITCHES = frozenset({"error_rate", "refuse_after", "hang", "die_half_way", "garbage"})
"""The settings that may change while the engine runs."""


class DiedHalfWay(EngineFailed):
    """The injected death in the middle of an answer."""


class UnknownModel(EngineRejected):
    """Neither the model nor one of its adapters."""


@dataclass(frozen=True)
class Served:
    """What became of a prompt: tokens, tokens of them from the cache, and the times before its first token, in ms.

    ``queue_ms`` is the wait for a place and for the compute unit, ``prefill_ms`` the compute itself.
    """

    prompt_tokens: int
    cached_tokens: int
    queue_ms: float
    prefill_ms: float


@dataclass(frozen=True)
class Token:
    """One token of an answer; ``due_s`` is when it was due on the clock. The last has a finish reason."""

    index: int
    text: str
    due_s: float
    served: Served
    finish_reason: str | None


@dataclass(frozen=True)
class _Job:
    """A request as accepted: its prompt, where its blocks belong, how long its answer will be, when it came."""

    token_ids: Sequence[int]
    adapter: str | None
    cache_salt: str | None
    answer_tokens: int
    finish_reason: str
    arrived_s: float


class SandboxEngine:
    """An inference engine without a model: a prefix cache, a timing model, a waiting line and faults."""

    def __init__(self, settings: SandboxSettings | None = None, clock: Clock | None = None) -> None:
        self.settings = settings or SandboxSettings()
        self.clock: Clock = clock or LoopClock()
        self.cache = PrefixCache(self.settings.capacity_blocks, self.settings.block_tokens)
        self.scheduler = Scheduler(self.cache, self.settings.max_running, self.settings.queue_limit)
        self.counted = Counters()
        self.requests = 0
        self._compute = ComputeUnit(self.clock)
        self._chance = random.Random(self.settings.seed)

    def switch(self, **faults: Any) -> None:
        """Change faults while running: any of :data:`SWITCHES`."""
        if not faults.keys() <= SWITCHES:
            raise TypeError(f"only {sorted(SWITCHES)} can be switched, not {sorted(faults)}")
        self.settings = replace(self.settings, **faults)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text."""
        return tokenize(text, self.settings.chars_per_token)

    def adapter_of(self, model: str | None) -> str | None:
        """The adapter that a model name stands for, ``None`` for the model itself. Raises :class:`UnknownModel`."""
        if model is None or model == self.settings.model:
            return None
        if model not in self.settings.adapters:
            raise UnknownModel(f"The model `{model}` does not exist.")
        return model

    async def complete(
        self,
        token_ids: Sequence[int],
        *,
        max_tokens: int | None = None,
        adapter: str | None = None,
        cache_salt: str | None = None,
        arrived_s: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        """Serve one prompt: its tokens as they fall due. Close the iterator to abort and free the blocks.

        ``arrived_s`` is when the request came, on the clock, where that was before this call: its times count from
        there.
        Raises :class:`ContextExceeded`, :class:`EngineOverloaded`, :class:`UnknownModel`, and the injected faults:
        :class:`EngineFailed`, :class:`EngineUnreachable`, :class:`EngineGarbage`, :class:`DiedHalfWay`.
        """
        arrived_s = self.clock.now_s() if arrived_s is None else arrived_s
        await self._injected_fault()
        adapter = self.adapter_of(adapter)
        length = self._answer_length(len(token_ids), max_tokens)
        reason = "stop" if max_tokens is None else "length"
        job = _Job(token_ids, adapter, cache_salt, length, reason, arrived_s)
        chain = self._chain(job, token_ids)
        lease, waited = await self.scheduler.admit(chain, len(token_ids), len(token_ids) + length - 1)
        try:
            ready_s = self.clock.now_s() if waited else arrived_s
            served, done_s = await self._prefill(job, lease, chain, ready_s)
            async with aclosing(self._decode(job, lease, served, done_s)) as tokens:
                async for token in tokens:
                    yield token
        finally:
            self._finish(lease, "abort")

    def gauges(self) -> dict[str, float]:
        """The present state, by vLLM's names."""
        return {
            "vllm:num_requests_running": float(self.scheduler.running),
            "vllm:num_requests_waiting": float(self.scheduler.waiting),
            "vllm:kv_cache_usage_perc": self.cache.used_blocks / self.cache.capacity_blocks,
        }

    def counters(self) -> dict[str, float]:
        """Gauges and counters by their Prometheus names, labels summed over."""
        return self.gauges() | self.counted.flat()

    def metrics(self) -> str:
        """The Prometheus text."""
        sizes = self.settings.block_tokens, self.settings.capacity_blocks
        return exposition(self.counted, self.gauges(), self.settings.model, *sizes)

    async def _injected_fault(self) -> None:
        settings, number = self.settings, self.requests
        self.requests += 1
        failed = self._chance.random() < settings.error_rate
        if settings.refuse_after is not None and number >= settings.refuse_after:
            raise EngineUnreachable("the sandbox refuses connections", "an injected fault: refuse_after")
        if settings.hang:
            await asyncio.get_running_loop().create_future()
        if settings.garbage:
            raise EngineGarbage("the sandbox answers garbage", "an injected fault: garbage")
        if failed:
            raise EngineFailed("the sandbox fails this request", "an injected fault: error_rate")

    def _answer_length(self, prompt_tokens: int, max_tokens: int | None) -> int:
        most = self.settings.max_model_len
        wanted = max_tokens if max_tokens is not None else min(self.settings.answer_tokens, most - prompt_tokens)
        if prompt_tokens < 1 or (max_tokens is not None and max_tokens < 1):
            raise EngineRejected("the prompt is empty or max_tokens is below 1", "send a prompt and max_tokens=1")
        if wanted < 1 or prompt_tokens + wanted > most:
            wanted = max(1, wanted)
            raise ContextExceeded(
                f"This model's maximum context length is {most} tokens. However, you requested "
                f"{prompt_tokens + wanted} tokens ({prompt_tokens} in the messages, {wanted} in the completion). "
                "Please reduce the length of the messages or completion.",
                prompt_tokens=prompt_tokens,
                context_tokens=most,
            )
        return wanted

    def _chain(self, job: _Job, token_ids: Sequence[int]) -> list[bytes]:
        return chain_of(token_ids, self.settings.block_tokens, adapter=job.adapter, cache_salt=job.cache_salt)

    async def _prefill(self, job: _Job, lease: Lease, chain: Sequence[bytes], ready_s: float) -> tuple[Served, float]:
        settings, tokens = self.settings, len(job.token_ids)
        cached = lease.hit_blocks * settings.block_tokens
        self.counted.prefix_queries += tokens
        self.counted.prefix_hits += cached
        self.counted.prompt_tokens += tokens
        work_ms = settings.prefill_fixed_ms + settings.prefill_ms_per_token * (tokens - cached)
        done_s = await self._compute.work(work_ms / 1000, ready_s)
        self.cache.publish(lease, chain)
        queue_ms = max(0.0, (done_s - job.arrived_s) * 1000 - work_ms)
        return Served(tokens, cached, queue_ms, work_ms), done_s

    async def _decode(self, job: _Job, lease: Lease, served: Served, done_s: float) -> AsyncGenerator[Token, None]:
        settings = self.settings
        text = AnswerText(job.token_ids, settings.chars_per_token, settings.seed)
        pieces: list[str] = []
        due_s, last_s = done_s + self._drawn_s(settings.first_token_ms), 0.0
        for index in range(job.answer_tokens):
            if self.settings.die_half_way and index >= job.answer_tokens // 2:
                raise DiedHalfWay("the sandbox broke off in the middle of an answer", "an injected fault")
            pieces.append(text.piece(index))
            await self.clock.sleep(due_s - self.clock.now_s())
            now_s = self.clock.now_s()
            self._count_token(index, now_s - (last_s if index else job.arrived_s))
            reason = job.finish_reason if index == job.answer_tokens - 1 else None
            if reason:  # the last token is never fed back, so it has no place in the cache
                answer = [token_id(piece) for piece in pieces[:-1]]
                self.cache.publish(lease, self._chain(job, [*job.token_ids, *answer]))
                self._finish(lease, reason)
            yield Token(index, pieces[-1], due_s, served, reason)
            due_s, last_s = due_s + self._drawn_s(settings.token_interval_ms), now_s

    def _drawn_s(self, mean_ms: float) -> float:
        jitter_ms = self.settings.jitter_ms
        return (max(0.0, self._chance.gauss(mean_ms, jitter_ms)) if jitter_ms else mean_ms) / 1000

    def _count_token(self, index: int, waited_s: float) -> None:
        self.counted.generation_tokens += 1
        (self.counted.itl if index else self.counted.ttft).observe(waited_s)

    def _finish(self, lease: Lease, reason: str) -> None:
        if lease.open:
            self.counted.finished[reason] += 1
            self.scheduler.leave(lease)
