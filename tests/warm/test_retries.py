"""Retries: full jitter, bounded, and only for what may pass."""

from __future__ import annotations

import asyncio
import random

import pytest

from preheat.engines.faults import EngineBusy
from preheat.errors import EngineFailed, EngineFault, EngineGarbage, EngineRejected, EngineTimeout
from preheat.warm.retries import Tried, with_retries
from preheat.warm.settings import WarmSettings

SETTINGS = WarmSettings(attempts=6, retry_base_s=0.5, retry_cap_s=3.0)


class NotingClock:
    def __init__(self) -> None:
        self.waits: list[float] = []

    def now_s(self) -> float:
        return sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def tried(faults: list[EngineFault], seed: int = 0) -> tuple[str | None, Tried, list[float]]:
    clock = NotingClock()
    left = list(faults)

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "done"

    result, how = asyncio.run(with_retries(call, SETTINGS, clock, random.Random(seed)))
    return result, how, clock.waits


def test_waits_are_jittered_double_and_are_capped() -> None:
    runs = [tried([EngineFailed("x")] * 9, seed)[2] for seed in range(300)]
    for number, most in enumerate((0.5, 1.0, 2.0, 3.0, 3.0)):
        waits = [run[number] for run in runs]
        assert 0 <= min(waits) < 0.1 * most
        assert 0.9 * most < max(waits) <= most
    assert len({round(run[0], 6) for run in runs}) > 250


@pytest.mark.parametrize(("asked", "waited"), [(2.0, 2.0), (45.0, 45.0), (3600.0, 60.0)])
def test_what_the_engine_asks_for_is_waited_a_minute_at_most(asked: float, waited: float) -> None:
    result, how, waits = tried([EngineBusy("busy", retry_after_s=asked)])
    assert (result, how) == ("done", Tried(2, None))
    assert waits == [waited]


def test_the_last_fault_is_kept() -> None:
    result, how, waits = tried([EngineTimeout("1"), EngineGarbage("2"), *[EngineFailed("3")] * 4])
    assert result is None
    assert how.attempts == 6
    assert how.fault is not None
    assert how.fault.message == "3"
    assert len(waits) == 5


def test_what_will_not_pass_is_tried_once() -> None:
    result, how, waits = tried([EngineRejected("no")])
    assert (result, how.attempts, waits) == (None, 1, [])
