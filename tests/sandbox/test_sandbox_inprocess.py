"""The sandbox behind the engine protocol, without sockets."""

from __future__ import annotations

import pytest

from preheat.clock import run_virtual
from preheat.engines.engine import Engine, rendering_of
from preheat.errors import ContextExceeded, EngineGarbage, EngineRejected, EngineTimeout, EngineUnreachable
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Message, Request
from preheat.sandbox.inprocess import InProcessEngine
from preheat.sandbox.settings import SandboxSettings

CHAT = Request(
    id="1",
    messages=(Message(role="system", content="You are terse. " * 40), Message(role="user", content="Hello?")),
    tools=[{"type": "function", "function": {"name": "now", "description": "<the time> & more"}}],
)


def test_it_says_what_it_is() -> None:
    engine: Engine = InProcessEngine(SandboxSettings(capacity_blocks=10, adapters=("a",)), name="r1")
    info = run_virtual(engine.describe())
    assert (info.kind, info.url, info.models) == ("sandbox", "sandbox://r1", ("sandbox", "a"))
    assert (info.block_tokens, info.capacity_tokens, info.context_tokens) == (16, 160, 160)
    assert info.reports_cached


def test_its_template_says_the_same_as_the_default_rendering() -> None:
    rendering = rendering_of(run_virtual(InProcessEngine().describe()))
    assert rendering is not None
    assert renderer_for(rendering).render(CHAT) == renderer_for(Rendering()).render(CHAT)


def test_a_warmed_prefix_serves_the_request_it_was_cut_from() -> None:
    async def main() -> None:
        engine = InProcessEngine()
        rendering = rendering_of(await engine.describe())
        assert rendering is not None
        text = renderer_for(rendering).render(CHAT)
        prefix = Prefix(text[:502], rendering)
        shared = await engine.shared_tokens([prefix])
        assert shared is not None
        ids = shared[0][: 7 * 16 + 1]
        assert (len(shared[0]), len(ids)) == (125, 113)
        first, second = await engine.prefill(prefix, ids), await engine.prefill(prefix, ids)
        assert (first.cached_tokens, second.cached_tokens) == (0, 112)
        assert first.wall_ms == pytest.approx(113 * 0.25)
        served = await engine.generate(CHAT, max_tokens=3)
        assert served.cached_tokens == 112
        assert served.output_tokens == 3
        assert served.ttft_ms == pytest.approx((served.prompt_tokens - 112) * 0.25)
        assert served.token_times_ms[-1] - served.token_times_ms[0] == pytest.approx(40)
        assert (await engine.generate(CHAT, max_tokens=1, namespace="cold")).cached_tokens == 0
        assert await engine.reset()
        assert (await engine.prefill(prefix, None)).cached_tokens == 0
        assert (await engine.counters())["vllm:prefix_cache_hits_total"] == 224
        await engine.close()

    run_virtual(main())


def test_faults_are_those_of_the_protocol() -> None:
    async def main() -> None:
        engine = InProcessEngine(SandboxSettings(context_tokens=64))
        small = Request(id="2", prompt="hi")
        with pytest.raises(ContextExceeded):
            await engine.generate(CHAT, max_tokens=1)
        with pytest.raises(EngineRejected):
            await engine.generate(Request(id="3", prompt="hi", adapter="nope"), max_tokens=1)
        engine.core.switch(hang=True)
        with pytest.raises(EngineTimeout):
            await engine.generate(small, max_tokens=1, timeout_s=5)
        engine.core.switch(hang=False, garbage=True)
        with pytest.raises(EngineGarbage):
            await engine.generate(small, max_tokens=1)
        engine.core.switch(garbage=False, refuse_after=0)
        with pytest.raises(EngineUnreachable):
            await engine.generate(small, max_tokens=1)

    run_virtual(main())


def test_it_keeps_the_cached_tokens_to_itself_where_told_so() -> None:
    engine = InProcessEngine(SandboxSettings(report_cached=False))
    assert run_virtual(engine.generate(CHAT, max_tokens=1)).cached_tokens is None
    assert not run_virtual(engine.describe()).reports_cached
