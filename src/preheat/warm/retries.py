"""Retries with full jitter for faults that may pass; an engine's own Retry-After is honoured."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from preheat.clock import Clock
from preheat.errors import (
    EngineFailed,
    EngineFault,
    EngineGarbage,
    EngineOverloaded,
    EngineTimeout,
    EngineUnreachable,
)
from preheat.warm.settings import WarmSettings

T = TypeVar("T")
MAY_PASS = (EngineOverloaded, EngineTimeout, EngineFailed, EngineUnreachable, EngineGarbage)
NOTHING_DONE = (EngineOverloaded, EngineUnreachable)
"""Of these, the faults after which the engine has surely computed nothing: it turned us away or was not there."""


class Tried(NamedTuple):
    """The last fault is kept where no try succeeded."""

    attempts: int
    fault: EngineFault | None


async def with_retries(
    call: Callable[[], Awaitable[T]],
    settings: WarmSettings,
    clock: Clock,
    jitter: random.Random,
    over: Callable[[], bool] = lambda: False,
    may_pass: tuple[type[EngineFault], ...] = MAY_PASS,
) -> tuple[T | None, Tried]:
    """Call until it succeeds, the fault is none of ``may_pass``, the tries are used up, or it is ``over``.

    Waits between tries are uniform in [0, base * 2**(tries so far - 1)], capped ("full jitter", Brooker 2015), and
    never shorter than what the engine asked for, a minute at most.
    """
    for attempt in range(1, settings.attempts + 1):
        try:
            return await call(), Tried(attempt, None)
        except EngineFault as fault:
            if attempt == settings.attempts or not isinstance(fault, may_pass) or over():
                return None, Tried(attempt, fault)
            wait_s = jitter.uniform(0.0, min(settings.retry_cap_s, settings.retry_base_s * 2 ** (attempt - 1)))
            asked_s = getattr(fault, "retry_after_s", None)
            await clock.sleep(max(wait_s, min(asked_s or 0.0, 60.0)))
    raise AssertionError("unreachable: the loop returns")
