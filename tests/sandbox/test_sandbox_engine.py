"""The engine's timing, waiting line, counters and faults, on virtual time: every figure here is exact."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from itertools import pairwise

import pytest

from preheat.clock import run_virtual
from preheat.errors import BadInput, ContextExceeded, EngineFailed, EngineOverloaded, EngineRejected
from preheat.sandbox.engine import DiedHalfWay, SandboxEngine, Token, UnknownModel
from preheat.sandbox.settings import SandboxSettings

QUICK = {"prefill_ms_per_token": 1.0, "token_interval_ms": 10.0}


def settings(**changes: object) -> SandboxSettings:
    return SandboxSettings(**{**QUICK, **changes})  # type: ignore[arg-type]


async def ask(engine: SandboxEngine, ids: Sequence[int], **options: object) -> list[tuple[float, Token]]:
    """All tokens of one completion with the virtual time of each, in ms."""
    options = {"max_tokens": 1, **options}
    async with aclosing(engine.complete(ids, **options)) as tokens:  # type: ignore[arg-type]
        return [(engine.clock.now_s() * 1000, token) async for token in tokens]


def times(received: list[tuple[float, Token]]) -> list[float]:
    return [round(at_ms, 6) for at_ms, _ in received]


def test_the_time_to_the_first_token_is_what_the_settings_say() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings(prefill_fixed_ms=5, first_token_ms=7))
        cold = await ask(engine, range(33), max_tokens=4)
        assert times(cold) == [45, 55, 65, 75]
        assert [token.finish_reason for _, token in cold] == [None, None, None, "length"]
        warm = await ask(engine, range(33), max_tokens=2)
        assert times(warm) == [75 + 13, 75 + 23]
        assert warm[0][1].served.cached_tokens == 32
        assert warm[0][1].served.prefill_ms == 6

    run_virtual(main())


def test_prompts_are_prefilled_one_after_another_and_decoded_side_by_side() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings())
        prompts = [range(100 * n, 100 * n + 20) for n in range(3)]
        answers = await asyncio.gather(*[ask(engine, prompt, max_tokens=3) for prompt in prompts])
        assert [times(answer) for answer in answers] == [[20, 30, 40], [40, 50, 60], [60, 70, 80]]
        assert [round(answer[0][1].served.queue_ms, 6) for answer in answers] == [0, 20, 40]

    run_virtual(main())


def test_followers_sent_with_their_leader_miss_and_sent_after_it_hit() -> None:
    async def main() -> None:
        together = SandboxEngine(settings())
        answers = await asyncio.gather(*[ask(together, range(33)) for _ in range(3)])
        assert [answer[0][1].served.cached_tokens for answer in answers] == [0, 0, 0]
        assert together.cache.visible_blocks == 2
        later = SandboxEngine(settings())
        await ask(later, range(33))
        answers = await asyncio.gather(*[ask(later, range(33)) for _ in range(2)])
        assert [answer[0][1].served.cached_tokens for answer in answers] == [32, 32]

    run_virtual(main())


def test_a_full_house_waits_first_come_first_served_and_a_full_line_is_refused() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings(max_running=1, queue_limit=2))
        running = [asyncio.create_task(ask(engine, range(100 * n, 100 * n + 10), max_tokens=2)) for n in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert engine.gauges()["vllm:num_requests_running"] == 1
        assert engine.gauges()["vllm:num_requests_waiting"] == 2
        with pytest.raises(EngineOverloaded):
            await ask(engine, [1])
        assert [times(answer) for answer in await asyncio.gather(*running)] == [[10, 20], [30, 40], [50, 60]]

    run_virtual(main())


def test_a_request_waits_for_blocks_and_one_that_can_never_fit_is_refused() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings(capacity_blocks=4))
        big, other = range(48), range(100, 148)
        first, second = await asyncio.gather(ask(engine, big), ask(engine, other))
        assert (times(first), times(second)) == ([48], [96])
        with pytest.raises(ContextExceeded) as refused:
            await ask(engine, range(64))
        assert (refused.value.prompt_tokens, refused.value.context_tokens) == (64, 64)

    run_virtual(main())


def test_an_aborted_request_gives_everything_back_at_once() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings(max_running=2))
        tasks = [asyncio.create_task(ask(engine, range(1000 * n, 1000 * n + 500), max_tokens=9)) for n in range(4)]
        await asyncio.sleep(0.1)  # one prefills, one waits for the compute unit, two wait for a place
        for task in tasks[:3]:
            task.cancel()
        answer = await tasks[3]
        assert times(answer)[0] == 600
        assert engine.cache.used_blocks == 0
        assert engine.scheduler.running == 0
        assert engine.counted.finished == {"length": 1, "stop": 0, "abort": 2}
        assert engine.cache.visible_blocks == 31  # of 500 prompt and 8 answer tokens; nothing of the aborted

    run_virtual(main())


def test_counters_count_prompt_tokens() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings())
        await ask(engine, range(40), max_tokens=3)
        await ask(engine, range(40), max_tokens=3)
        counters = engine.counters()
        assert counters["vllm:prefix_cache_queries_total"] == 80
        assert counters["vllm:prefix_cache_hits_total"] == 32
        assert counters["vllm:generation_tokens_total"] == 6
        assert counters["vllm:time_to_first_token_seconds_count"] == 2
        assert counters["vllm:time_to_first_token_seconds_sum"] == pytest.approx(0.048)
        assert 'vllm:cache_config_info{block_size="16"' in engine.metrics()

    run_virtual(main())


def test_adapters_and_salts_are_worlds_of_their_own() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings(adapters=("a",)))
        worlds: list[dict[str, str]] = [{}, {"adapter": "a"}, {"cache_salt": "s"}]
        for expected in (0, 32):
            for world in worlds:
                answer = await ask(engine, range(33), **world)
                assert answer[0][1].served.cached_tokens == expected
        with pytest.raises(UnknownModel):
            await ask(engine, range(33), adapter="b")

    run_virtual(main())


def test_answers_are_the_same_every_time_and_follow_the_prompt() -> None:
    async def main() -> list[str]:
        engine = SandboxEngine(settings())
        prompts = [range(8), range(8), range(1, 9)]
        return ["".join(token.text for _, token in await ask(engine, ids, max_tokens=8)) for ids in prompts]

    first, again, other = run_virtual(main())
    assert first == again
    assert first != other
    assert len(first) == 8 * 4


def test_jitter_is_seeded_and_keeps_the_mean() -> None:
    async def main(seed: int) -> list[float]:
        engine = SandboxEngine(settings(jitter_ms=2.0, seed=seed))
        return times(await ask(engine, range(16), max_tokens=400))

    first = run_virtual(main(1))
    assert first == run_virtual(main(1))
    assert first != run_virtual(main(2))
    gaps = [later - earlier for earlier, later in pairwise(first)]
    assert sum(gaps) / len(gaps) == pytest.approx(10, abs=0.5)
    assert min(gaps) >= 0


def test_injected_faults() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings(error_rate=0.25, seed=3))
        outcomes = await asyncio.gather(*[ask(engine, [n]) for n in range(400)], return_exceptions=True)
        failed = sum(isinstance(outcome, EngineFailed) for outcome in outcomes)
        assert 70 <= failed <= 130
        engine.switch(error_rate=0.0, die_half_way=True)
        with pytest.raises(DiedHalfWay):
            await ask(engine, range(20), max_tokens=6)
        assert engine.counted.generation_tokens == 400 - failed + 3
        assert engine.cache.used_blocks == 0
        engine.switch(die_half_way=False, hang=True)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await ask(engine, [1])
        with pytest.raises(TypeError):
            engine.switch(capacity_blocks=1)

    run_virtual(main())


@pytest.mark.parametrize("bad", [{"max_tokens": 0}, {"max_tokens": -1}])
def test_no_answer_at_all_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(EngineRejected):
        run_virtual(ask(SandboxEngine(), [1, 2], **bad))
    with pytest.raises(EngineRejected):
        run_virtual(ask(SandboxEngine(), []))


@pytest.mark.parametrize(
    "bad", [{"block_tokens": 0}, {"error_rate": 1.5}, {"token_interval_ms": -1.0}, {"first_token_ms": float("nan")}]
)
def test_settings_that_make_no_engine(bad: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        settings(**bad)


def test_one_engine_serves_several_event_loops_in_turn() -> None:
    engine = SandboxEngine(settings())
    assert times(run_virtual(ask(engine, range(33)))) == [33]
    assert times(run_virtual(ask(engine, range(33)))) == [1]


def test_times_count_from_the_arrival_but_never_from_before_the_unit_was_free() -> None:
    async def main() -> None:
        engine = SandboxEngine(settings())
        await asyncio.sleep(0.010)
        assert times(await ask(engine, range(33), arrived_s=0.0)) == [33]
        assert times(await ask(engine, range(100, 120), arrived_s=0.030)) == [53]

    run_virtual(main())


def test_histogram_buckets_are_cumulative() -> None:
    async def main() -> str:
        engine = SandboxEngine(settings())
        for tokens in (5, 30, 3000):
            await ask(engine, range(tokens * 10_000, tokens * 10_001))
        return engine.metrics()

    lines = [line for line in run_virtual(main()).splitlines() if line.startswith("vllm:time_to_first_token_seconds_b")]
    counts = {line.split('le="')[1].split('"')[0]: float(line.rsplit(" ", 1)[1]) for line in lines}
    assert list(counts.values()) == sorted(counts.values())
    assert (counts["0.001"], counts["0.005"], counts["0.04"], counts["2.5"], counts["+Inf"]) == (0, 1, 2, 2, 3)
