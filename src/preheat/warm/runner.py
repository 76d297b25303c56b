"""Warms one engine by a plan, item by item, then asks the engine what is really resident."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime

from preheat.clock import Clock, LoopClock
from preheat.engines.engine import Engine, Prefill
from preheat.errors import ContextExceeded, EngineDenied, EngineFault, EngineUnreachable
from preheat.files.versioned import digest
from preheat.records.outcomes import Outcome, Retention
from preheat.records.plan import Plan, PlanItem
from preheat.records.run import ItemRun, WarmRun
from preheat.records.target import EngineInfo
from preheat.warm.journal import Entry, WarmJournal
from preheat.warm.prompts import WarmPrompt, prepare
from preheat.warm.residency import implied, longest_only, spokesman, status_of
from preheat.warm.retries import Tried, with_retries
from preheat.warm.settings import WarmSettings

Progress = Callable[[str, int, int], None]
"""``(stage, done, total)``; called after each item."""

SUPPORTED_KINDS = frozenset({"prefix"})
_GONE = (EngineUnreachable, EngineDenied)


def _quiet(stage: str, done: int, total: int) -> None:
    pass


class Warmer:
    """One warm-up of one engine. ``stop`` ends it early: what runs is let go, the rest is DEFERRED."""

    def __init__(
        self,
        plan: Plan,
        engine: Engine,
        settings: WarmSettings | None = None,
        *,
        journal: WarmJournal | None = None,
        clock: Clock | None = None,
        stop: asyncio.Event | None = None,
        progress: Progress = _quiet,
    ) -> None:
        self.plan, self.engine, self.settings = plan, engine, settings or WarmSettings()
        self.journal, self.clock, self.progress = journal, clock or LoopClock(), progress
        self.stop = stop or asyncio.Event()
        self._jitter = random.Random()
        self._warmed: dict[str, Entry] = {}
        self._probed: dict[str, Entry] = {}
        self._failures_in_a_row = 0
        self._fatal: EngineFault | None = None

    async def run(self) -> WarmRun:
        """Warm, verify, report. Raises :class:`EngineFault` when the engine is gone for good; the journal stays."""
        started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), self.clock.now_s()
        info = await self.engine.describe()
        plan_hash = digest(self.plan)
        earlier: dict[str, Entry] = {}
        if self.journal:
            self._warmed, earlier = self.journal.start(plan_hash, info.url, self.settings.resume)
        items = [item for item in self.plan.items if item.kind in SUPPORTED_KINDS]
        prompts = await prepare(self.plan, items, self.engine, info)
        await self._warm_all(items, prompts, info, began_s)
        if self._fatal is None and not self.stop.is_set():
            await self._probe_all(items, prompts, info, earlier)
        complete = self._fatal is None and not self.stop.is_set()
        if self.journal:
            self.journal.close(keep=not complete)
        if self._fatal is not None:
            raise self._fatal
        return WarmRun(
            plan_hash=plan_hash,
            engine=info,
            started=started,
            duration_s=round(self.clock.now_s() - began_s, 3),
            verify_target=self.settings.verify_target,
            items=[self._outcome(item, prompts.get(item.id)) for item in self.plan.items],
            distinct_tokens=self.plan.distinct_tokens,
            complete=complete,
        )

    async def _warm_all(
        self, items: list[PlanItem], prompts: dict[str, WarmPrompt], info: EngineInfo, began_s: float
    ) -> None:
        """In plan order, a follower only after its leader, at most ``concurrency`` at once."""
        limit = self.settings.concurrency or max(1, min(4, info.parallel))
        slots, ready = asyncio.Semaphore(limit), {item.id: asyncio.Event() for item in items}

        async def one(item: PlanItem) -> None:
            try:
                if item.leader in ready and item.leader not in self._warmed:
                    await ready[item.leader].wait()
                await self._warm(item, prompts[item.id])
            finally:
                ready[item.id].set()
                slots.release()

        running: set[asyncio.Task[None]] = set()
        for done, item in enumerate(items):
            if item.id in self._warmed:
                ready[item.id].set()
                continue
            await self._either(slots.acquire())
            if self._over(began_s):
                break
            task = asyncio.create_task(one(item))
            running.add(task)
            task.add_done_callback(running.discard)
            self.progress("warm", done, len(items))
        if running:
            await self._either(asyncio.gather(*running, return_exceptions=True))
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self.progress("warm", len(items), len(items))

    async def _either(self, work: object) -> None:
        """Wait for ``work``, or until ``stop`` is set."""
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        halt = asyncio.create_task(self.stop.wait())
        await asyncio.wait({task, halt}, return_when=asyncio.FIRST_COMPLETED)
        halt.cancel()
        if not task.done():
            task.cancel()

    def _over(self, began_s: float) -> bool:
        limit_s = self.settings.max_time_s
        out_of_time = limit_s is not None and self.clock.now_s() - began_s >= limit_s
        return out_of_time or self.stop.is_set() or self._fatal is not None

    async def _warm(self, item: PlanItem, prompt: WarmPrompt) -> None:
        if prompt.ids is not None and not prompt.predicted_tokens:
            self._record(Entry(id=item.id, warmed=True, reason="shorter than one cache block of the engine"))
            return
        reply, tried = await self._insist(item, prompt)
        if reply is None:
            self._failed(item, prompt, tried.fault, tried.attempts)
            return
        self._failures_in_a_row = 0
        self._record(
            Entry(
                id=item.id,
                warmed=True,
                predicted_tokens=self._predicted(prompt, reply),
                cached_before=reply.cached_tokens,
                computed_tokens=reply.prompt_tokens - (reply.cached_tokens or 0),
                warm_ms=round(reply.wall_ms, 3),
                attempts=tried.attempts,
                reason="longer than the engine's context" if prompt.clipped else "",
            )
        )

    def _predicted(self, prompt: WarmPrompt, reply: Prefill) -> int:
        """Where only the engine knows the tokens, all whole blocks of what it counted but the last token."""
        return prompt.predicted_tokens if prompt.ids is not None else max(0, reply.prompt_tokens - 1)

    async def _insist(self, item: PlanItem, prompt: WarmPrompt) -> tuple[Prefill | None, Tried]:
        return await with_retries(lambda: self._send(item, prompt), self.settings, self.clock, self._jitter)

    async def _send(self, item: PlanItem, prompt: WarmPrompt) -> Prefill:
        return await self.engine.prefill(
            prompt.prefix, prompt.ids, adapter=item.adapter, timeout_s=self.settings.request_timeout_s
        )

    def _failed(self, item: PlanItem, prompt: WarmPrompt, fault: EngineFault | None, attempts: int) -> None:
        self._failures_in_a_row += 1
        if isinstance(fault, _GONE) or self._failures_in_a_row >= self.settings.give_up_after:
            self._fatal = fault
            return
        status = Outcome.CLIPPED if isinstance(fault, ContextExceeded) else Outcome.REJECTED
        reason = fault.message if fault else ""
        self._record(
            Entry(
                id=item.id,
                status=status,
                predicted_tokens=prompt.predicted_tokens,
                attempts=attempts,
                reason=reason,
            )
        )

    def _record(self, entry: Entry) -> None:
        assert entry.id is not None
        (self._probed if entry.status else self._warmed)[entry.id] = entry
        if self.journal:
            self.journal.add(entry)

    async def _probe_all(
        self, items: list[PlanItem], prompts: dict[str, WarmPrompt], info: EngineInfo, earlier: dict[str, Entry]
    ) -> None:
        """Every warmed item once, in plan order.

        An engine that keeps whole states would answer a probe for a prefix by cutting off what extends it; there the
        probe of the longest item that extends a prefix speaks for the prefix too.
        """
        warmed = [item for item in items if item.id in self._warmed and item.id not in self._probed]
        probed = longest_only(warmed) if info.retention is Retention.STATES else warmed
        for done, item in enumerate(probed):
            if self.stop.is_set() or self._fatal is not None:
                return
            entry, prompt = self._warmed[item.id], prompts[item.id]
            if not entry.predicted_tokens:
                self._record(Entry(id=item.id, status=Outcome.UNSUPPORTED, reason=entry.reason))
                continue
            reply, tried = await self._insist(item, prompt)
            if reply is None:
                self._failed(item, prompt, tried.fault, tried.attempts)
                continue
            self._failures_in_a_row = 0
            self._record(status_of(entry, prompt, reply, info, earlier.get(item.id)))
            self.progress("verify", done + 1, len(probed))
        for item in warmed:
            speaker = spokesman(item, probed)
            if item.id not in self._probed and speaker is not None and speaker.id in self._probed:
                self._record(implied(self._warmed[item.id], prompts[item.id], self._probed[speaker.id]))

    def _outcome(self, item: PlanItem, prompt: WarmPrompt | None) -> ItemRun:
        warmed, probed = self._warmed.get(item.id), self._probed.get(item.id)
        known = probed or warmed
        if item.kind not in SUPPORTED_KINDS:
            status, reason = Outcome.UNSUPPORTED, f"this engine has no way to warm a {item.kind}"
        elif probed and probed.status:
            status, reason = probed.status, probed.reason
        else:
            status = Outcome.DEFERRED
            reason = "warmed, not verified: interrupted" if warmed else "its turn did not come in time"
        return ItemRun(
            id=item.id,
            status=status,
            predicted_tokens=known.predicted_tokens if known else prompt.predicted_tokens if prompt else 0,
            cached_tokens=probed.cached_tokens if probed else None,
            cached_before=warmed.cached_before if warmed else None,
            computed_tokens=warmed.computed_tokens if warmed else 0,
            probe_tokens=probed.probe_tokens if probed else 0,
            warm_ms=warmed.warm_ms if warmed else 0.0,
            probe_ms=probed.probe_ms if probed else 0.0,
            attempts=known.attempts if known else 0,
            reason=reason,
        )
