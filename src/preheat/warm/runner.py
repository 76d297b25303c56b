"""Warms one engine by a plan, item by item, then asks the engine what is really resident."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from preheat.clock import Clock, LoopClock
from preheat.engines.engine import Engine, Prefill
from preheat.errors import BadInput, EngineDenied, EngineFault, EngineRejected, EngineTimeout, EngineUnreachable
from preheat.files.versioned import digest
from preheat.records.outcomes import Outcome, Retention
from preheat.records.plan import Plan, PlanItem
from preheat.records.run import ItemRun, WarmRun
from preheat.records.target import EngineInfo
from preheat.warm.computed import Computed
from preheat.warm.journal import Entry, WarmJournal
from preheat.warm.prompts import WarmPrompt, prepare
from preheat.warm.residency import NO_WORD, TOO_SHORT, implied, longest_only, lost, spokesman, status_of
from preheat.warm.retries import MAY_PASS, NOTHING_DONE, Tried, with_retries
from preheat.warm.settings import WarmSettings

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""``(stage, done, total)``; called after each item."""

SUPPORTED_KINDS = frozenset({"prefix"})
_GONE = (EngineUnreachable, EngineDenied)


def _quiet(stage: str, done: int, total: int) -> None:
    pass


def check_order(plan: Plan) -> None:
    """Raises :class:`BadInput` where a leader does not stand before its follower: they would wait for each other."""
    named = {item.id for item in plan.items}
    before: set[str] = set()
    for item in plan.items:
        if item.leader in named and item.leader not in before:
            raise BadInput(
                f"the plan's item {item.id} waits for {item.leader}, which does not stand before it", "plan again"
            )
        before.add(item.id)


class Warmer:
    """One warm-up of one engine. ``stop`` ends it early: what runs is let go, the rest is DEFERRED.

    The journal stays when the run has ended: whoever keeps the result removes it then.
    """

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
        self._torn: set[str] = set()
        self._failures_in_a_row = 0
        self._fatal: EngineFault | None = None
        self._broken: BaseException | None = None
        self._deadline_s = float("inf")
        self._done = 0
        self._computed = Computed(1)

    async def run(self) -> WarmRun:
        """Warm, verify, report. Raises :class:`EngineFault` when the engine is gone for good."""
        started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), self.clock.now_s()
        if self.settings.max_time_s is not None:
            self._deadline_s = began_s + self.settings.max_time_s
        info = await self._described()
        try:
            prompts = await self._warm_and_probe(info)
        finally:
            if self.journal:
                self.journal.close()
        if self._fatal is not None:
            if self.journal and self._warmed:
                self._fatal.remedy += f"{'; ' if self._fatal.remedy else ''}then go on with --resume"
            raise self._fatal
        return WarmRun(
            plan_hash=digest(self.plan),
            engine=info,
            started=started,
            duration_s=round(self.clock.now_s() - began_s, 3),
            verify_target=self.settings.verify_target,
            items=[self._outcome(item, prompts.get(item.id)) for item in self.plan.items],
            distinct_tokens=self.plan.distinct_tokens,
            complete=not self.stop.is_set(),
        )

    async def _described(self) -> EngineInfo:
        limit_s = self.settings.request_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                return await self.engine.describe()
        except TimeoutError as error:
            raise EngineTimeout(
                f"the engine at {self.engine.url} did not say what it is within {limit_s:g} s", "allow it more time"
            ) from error

    async def _warm_and_probe(self, info: EngineInfo) -> dict[str, WarmPrompt]:
        """Everything but the report; the prompts, as far as they were made."""
        earlier: dict[str, Entry] = {}
        if self.journal:
            self._warmed, earlier, self._torn = self.journal.start(digest(self.plan), info.url, self.settings.resume)
        check_order(self.plan)
        items = [item for item in self.plan.items if item.kind in SUPPORTED_KINDS]
        prompts = await self._unless_stopped(prepare(self.plan, items, self.engine, info))
        if prompts is None:
            return {}
        await self._warm_all(items, prompts, info)
        if self._fatal is None and not self.stop.is_set():
            await self._probe_all(items, prompts, info, earlier)
        return prompts

    async def _warm_all(self, items: list[PlanItem], prompts: dict[str, WarmPrompt], info: EngineInfo) -> None:
        """In plan order, a follower only after its leader, at most ``concurrency`` at once."""
        limit = self.settings.concurrency or max(1, min(4, info.parallel))
        slots, ready = asyncio.Semaphore(limit), {item.id: asyncio.Event() for item in items}
        self._computed = Computed(info.block_tokens)
        for item in items:
            if item.id in self._warmed:
                self._note_computed(item, prompts[item.id], self._warmed[item.id].cached_before)

        async def one(item: PlanItem) -> None:
            try:
                if item.leader in ready and item.leader not in self._warmed:
                    await ready[item.leader].wait()
                    if self._over():
                        return
                await self._warm(item, prompts[item.id])
            finally:
                ready[item.id].set()
                slots.release()

        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled():
                self._broken = self._broken or task.exception()
            self._done += 1
            self.progress("warm", self._done, len(items))

        running: list[asyncio.Task[None]] = []
        try:
            for item in items:
                if item.id in self._warmed:
                    ready[item.id].set()
                    self._done += 1
                    continue
                await self._unless_stopped(slots.acquire())
                if self._over():
                    break
                running.append(asyncio.create_task(one(item)))
                running[-1].add_done_callback(ended)
            if running:
                await self._unless_stopped(asyncio.wait(running))
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        if self._broken is not None:
            raise self._broken

    async def _unless_stopped(self, work: Awaitable[T]) -> T | None:
        """The result of ``work``; ``None`` where ``stop`` is set before it is there, and the work is let go."""
        task: asyncio.Future[T] = asyncio.ensure_future(work)
        halt = asyncio.create_task(self.stop.wait())
        try:
            waiting: set[asyncio.Future[Any]] = {task, halt}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        finally:
            halt.cancel()
            task.cancel()
        return None if task.cancelled() else task.result()

    def _over(self) -> bool:
        out_of_time = self.clock.now_s() >= self._deadline_s
        return out_of_time or self.stop.is_set() or self._fatal is not None or self._broken is not None

    async def _warm(self, item: PlanItem, prompt: WarmPrompt) -> None:
        if prompt.ids is not None and not prompt.predicted_tokens:
            self._record(Entry(id=item.id, warmed=True, reason=TOO_SHORT))
            return
        reply, tried = await self._insist(item, prompt, self._over, MAY_PASS)
        if reply is None:
            self._failed(item, prompt, tried.fault, tried.attempts)
            return
        self._failures_in_a_row = 0
        ids, before, predicted = prompt.ids, reply.cached_tokens, self._predicted(prompt, reply)
        theirs = ids is not None and before is not None and before >= predicted
        computed_before = item.id in self._torn or (theirs and self._computed.holds(ids or (), item.adapter, predicted))
        self._note_computed(item, prompt, before)
        self._record(
            Entry(
                id=item.id,
                warmed=True,
                computed_before=computed_before,
                predicted_tokens=predicted,
                cached_before=before,
                computed_tokens=reply.prompt_tokens - (reply.cached_tokens or 0),
                warm_ms=round(reply.wall_ms, 3),
                attempts=tried.attempts,
                reason="longer than the engine's context" if prompt.clipped else "",
            )
        )

    def _note_computed(self, item: PlanItem, prompt: WarmPrompt, before: int | None) -> None:
        if prompt.ids is not None and before is not None:
            self._computed.add(prompt.ids, item.adapter, before, prompt.predicted_tokens)

    def _predicted(self, prompt: WarmPrompt, reply: Prefill) -> int:
        """Where only the engine knows the tokens, all whole blocks of what it counted but the last token."""
        return prompt.predicted_tokens if prompt.ids is not None else max(0, reply.prompt_tokens - 1)

    async def _insist(
        self, item: PlanItem, prompt: WarmPrompt, over: Callable[[], bool], may_pass: tuple[type[EngineFault], ...]
    ) -> tuple[Prefill | None, Tried]:
        return await with_retries(
            lambda: self._send(item, prompt), self.settings, self.clock, self._jitter, over, may_pass
        )

    async def _send(self, item: PlanItem, prompt: WarmPrompt) -> Prefill:
        return await self.engine.prefill(
            prompt.prefix, prompt.ids, adapter=item.adapter, timeout_s=self.settings.request_timeout_s
        )

    def _failed(self, item: PlanItem, prompt: WarmPrompt, fault: EngineFault | None, attempts: int) -> None:
        """An engine that refuses an item is there; one that fails again and again is as good as gone."""
        self._failures_in_a_row = 0 if isinstance(fault, EngineRejected) else self._failures_in_a_row + 1
        if isinstance(fault, _GONE) or self._failures_in_a_row >= self.settings.give_up_after:
            self._fatal = self._fatal or fault
            return
        self._record(
            Entry(
                id=item.id,
                status=Outcome.REJECTED,
                predicted_tokens=prompt.predicted_tokens,
                attempts=attempts,
                reason=fault.message if fault else "",
            )
        )

    def _unanswered(self, warmed: Entry, tried: Tried) -> None:
        """A probe without an answer proves nothing, and asking again would read what it may have filled itself."""
        self._failures_in_a_row += 1
        if isinstance(tried.fault, _GONE) or self._failures_in_a_row >= self.settings.give_up_after:
            self._fatal = self._fatal or tried.fault
            return
        self._record(lost(warmed, tried.fault, tried.attempts))

    def _record(self, entry: Entry) -> None:
        assert entry.id is not None
        if not entry.probing:
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
                why = entry.reason or (NO_WORD if entry.cached_before is None else TOO_SHORT)
                self._record(Entry(id=item.id, status=Outcome.UNSUPPORTED, reason=why))
                continue
            self._record(Entry(id=item.id, probing=True))
            answer = await self._unless_stopped(self._insist(item, prompt, self.stop.is_set, NOTHING_DONE))
            if answer is None:
                return
            reply, tried = answer
            if reply is None:
                self._unanswered(entry, tried)
                continue
            self._failures_in_a_row = 0
            self._record(status_of(entry, prompt, reply, info, earlier.get(item.id)))
            self.progress("verify", done + 1, len(probed))
        for item in warmed:
            speaker = None if item.id in self._probed else spokesman(item, probed)
            if speaker is not None and speaker.id in self._probed:
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
            waiting = "interrupted before its turn" if self.stop.is_set() else "its turn did not come in time"
            reason = "warmed, not verified: interrupted" if warmed else waiting
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
