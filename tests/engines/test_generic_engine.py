"""The generic adapter: what it can find out and do with OpenAI's routes alone."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from engines.misbehaving import answering
from preheat.engines.openai import OpenAIEngine
from preheat.engines.table import connect
from preheat.errors import EngineRejected
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Message, Request
from preheat.sandbox.server import serve
from preheat.sandbox.settings import SandboxSettings

FAST = SandboxSettings(prefill_ms_per_token=0.0, token_interval_ms=0.0)
SYSTEM = "You answer for the shop of Orchard & Sons. " * 8


@pytest.fixture
async def generic() -> AsyncIterator[OpenAIEngine]:
    async with serve(FAST) as server:
        engine = OpenAIEngine.at(server.url)
        yield engine
        await engine.close()


def chat(system: str, user: str) -> Request:
    return Request(id="r", messages=(Message("system", system), Message("user", user)))


async def test_it_says_what_little_it_knows(generic: OpenAIEngine) -> None:
    info = await generic.describe()
    assert (info.kind, info.model, info.reports_cached) == ("openai", "sandbox", True)
    assert info.context_tokens is None
    assert await generic.shared_tokens([]) is None
    assert await generic.counters() == {}
    assert await generic.reset() is False


async def test_a_prefix_is_warmed_as_messages(generic: OpenAIEngine) -> None:
    system = f"{uuid.uuid4()} {SYSTEM}"
    prefix = Prefix(f"<|im_start|>system\n{system}", Rendering())
    cold = await generic.prefill(prefix, None)
    served = await generic.generate(chat(system + "More.", "Hi"), max_tokens=2)
    assert cold.cached_tokens == 0
    assert served.cached_tokens is not None
    assert served.cached_tokens >= cold.prompt_tokens - 40


async def test_text_under_another_template_goes_as_text(generic: OpenAIEngine) -> None:
    prefix = Prefix(f"{uuid.uuid4()} {SYSTEM}", Rendering(template="{{ messages }}"))
    cold, warm = await generic.prefill(prefix, None), await generic.prefill(prefix, None)
    assert cold.cached_tokens == 0
    assert warm.cached_tokens == (warm.prompt_tokens - 1) // 16 * 16


async def test_a_nonce_is_a_namespace(generic: OpenAIEngine) -> None:
    request = chat(f"{uuid.uuid4()} {SYSTEM}", "Hi")
    await generic.generate(request, max_tokens=1)
    assert (await generic.generate(request, max_tokens=1, namespace="a")).cached_tokens == 0
    assert (await generic.generate(request, max_tokens=1, namespace="a")).cached_tokens
    assert (await generic.generate(request, max_tokens=1, namespace="b")).cached_tokens == 0


async def test_an_engine_that_gives_no_word() -> None:
    async with serve(SandboxSettings(report_cached=False, prefill_ms_per_token=0.0)) as server:
        for kind in ("openai", "vllm"):
            engine = await connect(server.url, kind)
            assert (await engine.describe()).reports_cached is False
            prefix = Prefix(f"<|im_start|>system\n{SYSTEM}", Rendering())
            assert (await engine.prefill(prefix, None)).cached_tokens is None
            await engine.close()


async def test_an_endpoint_without_completions() -> None:
    """As many gateways are: chat alone, and cached tokens left out while there are none."""
    seen: list[dict[str, object]] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path != "/v1/chat/completions":
            return web.json_response({"detail": "Not Found"}, status=404)
        body = await request.json()
        known = body in seen
        seen.append(body)
        details = {"prompt_tokens_details": {"cached_tokens": 64}} if known else {}
        return web.json_response({"choices": [], "usage": {"prompt_tokens": 80, **details}})

    async with answering(handler) as url:
        engine = await connect(url)
        assert (await engine.describe()).reports_cached is True
        prefix = Prefix("<|im_start|>system\nBe brief", Rendering())
        assert (await engine.prefill(prefix, None)).cached_tokens == 0
        assert seen[-1]["messages"] == [{"role": "system", "content": "Be brief"}]
        assert seen[-1]["max_tokens"] == 1
        await engine.prefill(Prefix('<|im_start|>tools\n{"x":1}<|im_end|>\n', Rendering()), None)
        assert (seen[-1]["tools"], seen[-1]["messages"]) == ([{"x": 1}], [{"role": "user", "content": "."}])
        with pytest.raises(EngineRejected, match="only messages"):
            await engine.prefill(Prefix("Be brief", Rendering(template="x")), None)
        await engine.close()


async def test_adapters_are_models_with_caches_of_their_own() -> None:
    async with serve(SandboxSettings(adapters=("legal",), prefill_ms_per_token=0.0)) as server:
        engine = await connect(server.url)
        info = await engine.describe()
        assert (info.kind, info.model, info.models) == ("vllm", "sandbox", ("sandbox", "legal"))
        prefix = Prefix(f"<|im_start|>system\n{SYSTEM}", Rendering())
        await engine.prefill(prefix, None)
        assert (await engine.prefill(prefix, None, adapter="legal")).cached_tokens == 0
        assert (await engine.prefill(prefix, None, adapter="legal")).cached_tokens
        with pytest.raises(EngineRejected):
            await engine.prefill(prefix, None, adapter="no-such-adapter")
        await engine.close()
