"""Open-loop replay on the sandbox, on virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from preheat.clock import run_virtual
from preheat.errors import EngineDenied, EngineUnreachable
from preheat.records.request import Message, Request
from preheat.records.run import ReplayRun
from preheat.replay.player import Player
from preheat.replay.settings import ReplaySettings
from preheat.sandbox.settings import SandboxSettings
from replay.traffic import Noting, chat, words


def play(requests: list[Request], engine: Noting, settings: ReplaySettings | None = None, **more: Any) -> ReplayRun:
    return run_virtual(Player(requests, engine, settings, **more).run())


def test_requests_leave_when_they_are_due_however_slow_the_engine_is() -> None:
    requests = [chat(f"r{n}", 100 + 2.0 * n) for n in range(10)]
    engine = Noting(SandboxSettings(prefill_ms_per_token=500))  # half a minute each, one at a time
    run = play(requests, engine, from_s=100.0)
    assert engine.came_s == pytest.approx([2.0 * n for n in range(10)])
    assert [each.sent_s for each in run.requests] == [each.due_s for each in run.requests]
    assert run.requests[-1].ttft_ms > 5 * run.requests[0].ttft_ms  # type: ignore[operator]  # the queue is theirs
    assert [each.id for each in run.requests] == [each.id for each in requests]
    assert run.window_requests == 10


@pytest.mark.parametrize("speed", [0.25, 1.0, 40.0])
def test_speed_stretches_the_spacing(speed: float) -> None:
    engine = Noting(SandboxSettings(prefill_ms_per_token=0.0, token_interval_ms=0.0))
    run = play([chat(f"r{n}", 7.0 * n) for n in range(5)], engine, speed=speed)
    assert engine.came_s == pytest.approx([7.0 * n / speed for n in range(5)], abs=1e-6)
    assert run.duration_s == pytest.approx(28 / speed, abs=2e-3)
    assert run.speed == speed


def test_where_too_many_are_outstanding_it_is_said() -> None:
    engine = Noting(SandboxSettings(prefill_ms_per_token=100))
    run = play([chat(f"r{n}", 0.1 * n) for n in range(12)], engine, ReplaySettings(in_flight=3))
    assert engine.most_at_once == 3
    held = sum(each.sent_s > each.due_s + 1e-6 for each in run.requests)
    assert run.notes == [f"{held} of 12 requests left later than they were due: 3 were outstanding"]


def test_what_is_measured_is_the_engines_and_the_clients() -> None:
    engine = Noting(SandboxSettings(prefill_ms_per_token=1.0, token_interval_ms=10.0))
    one = play([chat("a", 0.0, output_tokens=5), chat("b", 60.0, max_tokens=3)], engine).requests
    assert [each.output_tokens for each in one] == [5, 3]
    first = one[0]
    assert first.ttft_ms == pytest.approx(first.prompt_tokens)
    assert first.itl_ms == pytest.approx(10.0)
    assert first.total_ms == pytest.approx(first.ttft_ms + 40.0)  # type: ignore[operator]
    assert first.prompt_ms == pytest.approx(first.ttft_ms)


def test_busy_is_the_engines_own_time_over_the_replays() -> None:
    engine = Noting(SandboxSettings(prefill_ms_per_token=0.0, prefill_fixed_ms=500, token_interval_ms=0.0))
    run = play([chat(f"r{n}", 1.0 * n) for n in range(10)], engine)
    assert run.busy == pytest.approx(5.0 / 9.5, abs=1e-3)


def test_a_prompt_beyond_the_context_is_cut_and_counted() -> None:
    engine = Noting(SandboxSettings(context_tokens=400))
    long = chat("long", 0.0, chars=4000)
    run = play([long, chat("short", 1.0)], engine)
    assert [each.truncated for each in run.requests] == [True, False]
    assert run.requests[0].error is None
    assert 300 < run.requests[0].prompt_tokens <= 400 - 16  # type: ignore[operator]


def test_a_prompt_that_no_cut_makes_fit_is_one_failure() -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": words("tool", 4000)}}]
    engine = Noting(SandboxSettings(context_tokens=400))
    run = play([chat("a", 0.0, tools=tools), chat("b", 1.0)], engine)
    assert "context" in (run.requests[0].error or "")
    assert run.requests[0].truncated
    assert run.requests[1].error is None


def test_single_failures_are_results() -> None:
    engine = Noting(SandboxSettings(error_rate=0.5, seed=3))
    run = play([chat(f"r{n}", 1.0 * n) for n in range(30)], engine)
    failed = [each for each in run.requests if each.error is not None]
    assert 5 < len(failed) < 25
    assert all(each.ttft_ms is None and "fails this request" in (each.error or "") for each in failed)
    assert len(run.requests) == 30


@pytest.mark.parametrize("fault", [{"hang": True}, {"garbage": True}, {"die_half_way": True}])
def test_an_engine_that_misbehaves_gives_failures_not_an_end(fault: dict[str, bool]) -> None:
    engine = Noting(SandboxSettings(**fault))  # type: ignore[arg-type]
    run = play([chat(f"r{n}", 1.0 * n) for n in range(8)], engine, ReplaySettings(timeout_s=5.0))
    assert all(each.error for each in run.requests)


def test_an_engine_that_is_gone_ends_the_replay() -> None:
    engine = Noting(SandboxSettings(refuse_after=4))
    with pytest.raises(EngineUnreachable):
        play([chat(f"r{n}", 1.0 * n) for n in range(50)], engine)
    assert len(engine.came_s) <= 4 + 3 + 1


def test_credentials_that_are_refused_end_the_replay() -> None:
    class Denying(Noting):
        async def generate(self, request: Request, **more: Any) -> Any:
            raise EngineDenied("no", "check the key")

    with pytest.raises(EngineDenied):
        play([chat(f"r{n}", 1.0 * n) for n in range(50)], Denying())


def test_a_namespace_is_cold_at_first_and_shares_within_itself() -> None:
    engine = Noting()
    system = words("system", 1024)
    requests = [chat(f"r{n}", 1.0 * n, system=system) for n in range(3)]
    plain = play(requests, engine)
    apart = play(requests, engine, namespace="cold")
    assert [each.cached_tokens for each in plain.requests] == [each.cached_tokens for each in apart.requests]
    assert apart.requests[0].cached_tokens == 0
    assert apart.requests[1].cached_tokens >= 240  # type: ignore[operator]
    again = play(requests, engine)
    assert again.requests[0].cached_tokens > 240  # type: ignore[operator]
    assert (plain.salted, apart.salted) == (False, True)


def test_a_stop_keeps_what_came_back_and_says_so() -> None:
    engine, stop = Noting(SandboxSettings(prefill_ms_per_token=10)), asyncio.Event()

    async def main() -> ReplayRun:
        player = Player([chat(f"r{n}", 2.0 * n) for n in range(50)], engine, stop=stop)
        run = asyncio.create_task(player.run(["a note"]))
        await asyncio.sleep(9.0)
        stop.set()
        return await run

    run = run_virtual(main())
    assert 3 <= len(run.requests) <= 5
    assert run.notes == ["a note", "interrupted before the end of the window"]
    assert run.duration_s < 10
    assert engine.core.cache.used_blocks == 0


def test_a_stop_does_not_wait_for_a_place() -> None:
    engine, stop = Noting(SandboxSettings(hang=True)), asyncio.Event()

    async def main() -> ReplayRun:
        player = Player([chat(f"r{n}", 0.0) for n in range(9)], engine, ReplaySettings(in_flight=2), stop=stop)
        run = asyncio.create_task(player.run())
        await asyncio.sleep(9.0)
        stop.set()
        return await run

    assert run_virtual(main()).duration_s < 10


def test_nothing_to_send_is_an_empty_run() -> None:
    assert play([], Noting()).requests == []


def test_messages_without_times_and_prompts_of_text() -> None:
    engine = Noting()
    run = play([Request(id="p", prompt=words("p", 400)), Request(id="m", messages=(Message(role="user"),))], engine)
    assert [each.error for each in run.requests] == [None, None]
    assert run.requests[0].prompt_tokens == 100
