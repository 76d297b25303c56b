"""Open-loop replay: every request leaves when it is due, whether or not earlier ones have come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from preheat.clock import Clock, LoopClock
from preheat.engines.engine import Engine, Generation
from preheat.errors import ContextExceeded, EngineDenied, EngineFault, EngineUnreachable
from preheat.records.request import Request
from preheat.records.run import ReplayRun, RequestRun
from preheat.replay.clip import clip
from preheat.replay.settings import ReplaySettings

Progress = Callable[[str, int, int], None]
_CLIPPINGS = 4
"""Times that a prompt is cut before it counts as one that does not fit."""
_GONE_AFTER = 3
_BEAT_S = 1.0


class Coverage(NamedTuple):
    """The deepest plan item that is a prefix of a request's rendered prompt, and its share of the characters."""

    item: str | None
    share: float


def _quiet(stage: str, done: int, total: int) -> None:
    pass


class Player:
    """One replay of one window against one engine."""

    def __init__(
        self,
        requests: Sequence[Request],
        engine: Engine,
        settings: ReplaySettings | None = None,
        *,
        label: str = "run",
        log: str = "",
        from_s: float = 0.0,
        speed: float = 1.0,
        namespace: str | None = None,
        coverage: Callable[[Request], Coverage] | None = None,
        clock: Clock | None = None,
        stop: asyncio.Event | None = None,
        progress: Progress = _quiet,
    ) -> None:
        self.requests, self.engine, self.settings = requests, engine, settings or ReplaySettings()
        self.label, self.log, self.from_s, self.speed, self.namespace = label, log, from_s, speed, namespace
        self.coverage, self.clock, self.progress = coverage, clock or LoopClock(), progress
        self.stop = stop or asyncio.Event()
        self._fatal: EngineFault | None = None
        self._gone_in_a_row = 0
        self._held_back = 0
        self._finished = 0

    async def run(self, notes: Sequence[str] = (), window_requests: int | None = None) -> ReplayRun:
        """Send all, measure all. Raises :class:`EngineFault` when the engine is gone; single failures are results."""
        info = await self.engine.describe()
        started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), self.clock.now_s()
        slots = asyncio.Semaphore(self.settings.in_flight)
        tasks: list[asyncio.Task[RequestRun]] = []

        def count(_: object) -> None:
            self._finished += 1
            self._beat()

        for request in self.requests:
            due_s = ((request.time_s or self.from_s) - self.from_s) / self.speed
            await self._wait_until(began_s + due_s)
            await self._slot(slots)
            if self.stop.is_set() or self._fatal is not None:
                break
            task = asyncio.create_task(self._one(request, due_s, began_s))
            task.add_done_callback(count)
            task.add_done_callback(lambda _: slots.release())
            tasks.append(task)
        results = await self._gather(tasks)
        if self._fatal is not None:
            raise self._fatal
        duration_s = self.clock.now_s() - began_s
        return ReplayRun(
            label=self.label,
            engine=info,
            started=started,
            log=self.log,
            from_s=self.from_s,
            window_s=self.settings.window_s,
            speed=self.speed,
            duration_s=round(duration_s, 3),
            salted=self.namespace is not None,
            window_requests=len(self.requests) if window_requests is None else window_requests,
            requests=results,
            notes=[*notes, *self._notes()],
            busy=_busy(results, duration_s),
        )

    def _beat(self) -> None:
        """Also while nothing happens, so that whoever watches sees that it is alive."""
        self.progress(self.label, self._finished, len(self.requests))

    async def _wait_until(self, due_s: float) -> None:
        while not self.stop.is_set() and self._fatal is None:
            left_s = due_s - self.clock.now_s()
            if left_s <= 0:
                return
            self._beat()
            await self.clock.sleep(min(left_s, 0.5))

    async def _slot(self, slots: asyncio.Semaphore) -> None:
        """A place among those outstanding. Where one has to be waited for, the load is no longer open, and that is
        counted."""
        if not slots.locked():
            await slots.acquire()
            return
        self._held_back += 1
        while not self.stop.is_set() and self._fatal is None:
            try:
                async with asyncio.timeout(0.5):
                    await slots.acquire()
            except TimeoutError:
                self._beat()
                continue
            return

    def _notes(self) -> list[str]:
        notes = []
        if self._held_back:
            notes.append(
                f"{self._held_back} of {len(self.requests)} requests left later than they were due: "
                f"{self.settings.in_flight} were outstanding"
            )
        if self.stop.is_set():
            notes.append("interrupted before the end of the window")
        return notes

    async def _gather(self, tasks: list[asyncio.Task[RequestRun]]) -> list[RequestRun]:
        """Results in order; after a stop, those that are still running are let go."""
        halt = asyncio.create_task(self.stop.wait())
        everything = asyncio.gather(*tasks, return_exceptions=True)
        pending: set[asyncio.Future[Any]] = {everything, halt}
        while not (await asyncio.wait(pending, timeout=_BEAT_S, return_when=asyncio.FIRST_COMPLETED))[0]:
            self._beat()
        halt.cancel()
        for task in tasks:
            task.cancel()
        done = await everything
        faults = [result for result in done if isinstance(result, Exception)]
        if faults:
            raise faults[0]
        return [result for result in done if isinstance(result, RequestRun)]

    async def _one(self, request: Request, due_s: float, began_s: float) -> RequestRun:
        covered = self.coverage(request) if self.coverage else Coverage(None, 0.0)
        base = RequestRun(
            id=request.id, due_s=round(due_s, 4), tenant=request.tenant, item=covered.item, item_share=covered.share
        )
        limit = min(
            request.max_tokens or request.output_tokens or self.settings.output_tokens, self.settings.output_tokens
        )
        truncated = False
        sent_s = self.clock.now_s() - began_s
        for _ in range(_CLIPPINGS + 1):
            try:
                sent_s = self.clock.now_s() - began_s
                reply = await self.engine.generate(
                    request, max_tokens=limit, namespace=self.namespace, timeout_s=self.settings.timeout_s
                )
            except ContextExceeded as too_long:
                asked, context = too_long.prompt_tokens, too_long.context_tokens
                share = (context - limit - 16) / asked if asked and context else 0.7
                request, truncated = clip(request, min(0.95, 0.97 * share)), True
            except EngineFault as fault:
                self._note(fault)
                return _failed(base, sent_s, truncated, fault.message)
            else:
                self._gone_in_a_row = 0
                return _measured(base, sent_s, truncated, reply)
        return _failed(base, sent_s, truncated, "longer than the engine's context, also after cutting it")

    def _note(self, fault: EngineFault) -> None:
        """Nobody there, or not for us: three times in a row is for good."""
        gone = isinstance(fault, EngineUnreachable | EngineDenied)
        self._gone_in_a_row = self._gone_in_a_row + 1 if gone else 0
        if self._gone_in_a_row >= _GONE_AFTER:
            self._fatal = fault


def _failed(base: RequestRun, sent_s: float, truncated: bool, error: str) -> RequestRun:
    return msgspec.structs.replace(base, sent_s=round(sent_s, 4), truncated=truncated, error=error)


def _measured(base: RequestRun, sent_s: float, truncated: bool, reply: Generation) -> RequestRun:
    times = reply.token_times_ms
    itl_ms = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None
    return msgspec.structs.replace(
        base,
        sent_s=round(sent_s, 4),
        truncated=truncated,
        ttft_ms=round(reply.ttft_ms, 3),
        total_ms=round(reply.total_ms, 3),
        itl_ms=None if itl_ms is None else round(itl_ms, 3),
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        output_tokens=reply.output_tokens,
        prompt_ms=reply.prompt_ms,
        decode_ms=reply.decode_ms,
    )


def _busy(results: Sequence[RequestRun], duration_s: float) -> float | None:
    spoken = [run for run in results if run.prompt_ms is not None]
    if not spoken or duration_s <= 0:
        return None
    return round(sum((run.prompt_ms or 0.0) + (run.decode_ms or 0.0) for run in spoken) / 1000 / duration_s, 4)
