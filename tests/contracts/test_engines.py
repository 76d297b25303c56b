"""What every engine adapter must hold to, asked of the sandbox, a real llama.cpp and a real vLLM."""

from __future__ import annotations

import uuid
from itertools import pairwise

import pytest

from contracts.engine_fixtures import free_port
from preheat.engines.engine import Engine, rendering_of
from preheat.engines.table import connect
from preheat.errors import ContextExceeded, EngineRejected, EngineUnreachable
from preheat.prompts.render import renderer_for
from preheat.records.outcomes import Retention
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Message, Request
from preheat.records.target import EngineInfo

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEMPLATE_TOKENS = 8  # what a chat template may put before the first content
POLICY = (
    " You answer questions about parcels for the shop of Orchard & Sons. Say where a parcel is, when it comes, and "
    "what to do if it is late. Never promise a refund: pass such questions on to a person. Orders begin with OS- and "
    "nine digits. Ask for the order number first, then for the postcode. Be brief, friendly and exact. "
)


def new_system() -> str:
    """A system prompt that no cache has seen, about 100 tokens long."""
    return f"Shift {uuid.uuid4().hex[:12]}." + POLICY


def chat(system: str, user: str) -> Request:
    return Request(id="r", messages=(Message("system", system), Message("user", user)))


async def renderings(engine: Engine) -> list[Rendering]:
    """The default one, and that of the engine's own template (the sandbox's, which it does not tell, is ChatML)."""
    info = await engine.describe()
    return [Rendering(), rendering_of(info) or Rendering(name="chatml", source=info.url, template=CHATML)]


async def warmed_ids(engine: Engine, prefix: Prefix) -> tuple[list[int], int]:
    """The ids to send, whole blocks plus one, and the tokens that are then to be resident."""
    info = await engine.describe()
    shared = await engine.shared_tokens([prefix])
    assert shared is not None
    resident = info.whole_blocks(len(shared[0]) - 1)
    return shared[0][: resident + 1], resident


def almost_nothing(info: EngineInfo) -> int:
    """Tokens that an engine may rightly call cached of a prompt it has never seen."""
    return max(info.block_tokens - 1, TEMPLATE_TOKENS)


async def test_it_says_what_it_is(engine: Engine, engine_url: str) -> None:
    info = await engine.describe()
    assert info.url == engine_url
    assert info.kind in ("vllm", "llamacpp")
    assert info.model
    assert info.model in info.models
    assert info.version
    assert info.context_tokens is not None
    assert info.context_tokens >= 4096
    assert info.reports_cached
    if info.kind == "llamacpp":
        assert info.retention is Retention.STATES
        assert info.block_tokens == 1
        assert info.kv_bytes_per_token is not None
        assert 23_040 <= info.kv_bytes_per_token < 23_300  # 2 x 30 layers x 3 heads x 64 x 2 bytes, and a header
    else:
        assert info.retention is Retention.BLOCKS
        assert info.block_tokens in (16, 32)
        assert info.capacity_tokens is not None
        assert info.capacity_tokens >= info.context_tokens
        if info.model == "tiny":
            assert info.kv_bytes_per_token == 4096  # 2 x 4 layers x 2 heads x 64 x 4 bytes


@pytest.mark.parametrize("cut", [40, 137, 311, None])
async def test_shared_tokens_hold_for_any_continuation(engine: Engine, cut: int | None) -> None:
    system = new_system()
    for rendering in await renderings(engine):
        text = renderer_for(rendering).render(chat(system, "Where is OS-123456789?"))[:cut]
        longer = [text] if cut is None else [text + more for more in ("ing", " 12 x", "\n\n- y", "), z", "é")]
        shared = await engine.shared_tokens([Prefix(one, rendering) for one in (text, *longer)])
        assert shared is not None
        assert len(shared[0]) > 3
        for of_longer in shared[1:]:
            assert of_longer[: len(shared[0])] == shared[0]


async def test_shared_tokens_begin_the_whole_prompt(engine: Engine) -> None:
    system = new_system()
    for rendering in await renderings(engine):
        full = renderer_for(rendering).render(chat(system, "Where is it?"))
        cuts = [full[:length] for length in range(60, len(full), 37)] + [full]
        shared = await engine.shared_tokens([Prefix(text, rendering) for text in cuts])
        assert shared is not None
        for shorter, longer in pairwise(shared):
            assert longer[: len(shorter)] == shorter


async def test_cold_then_warm_then_another_continuation(engine: Engine) -> None:
    info = await engine.describe()
    for rendering in await renderings(engine):
        text = renderer_for(rendering).render(chat(new_system(), "Hello"))
        prefix = Prefix(text[: text.index("Hello")], rendering)
        ids, resident = await warmed_ids(engine, prefix)
        assert resident >= 2 * info.block_tokens
        cold = await engine.prefill(prefix, ids)
        assert cold.prompt_tokens == resident + 1
        assert cold.cached_tokens is not None
        assert cold.cached_tokens <= almost_nothing(info)
        assert cold.wall_ms > 0
        warm = await engine.prefill(prefix, ids)
        assert warm.cached_tokens == resident
        other = [*ids[:-1], ids[-1] + 1, 5, 6, 7]
        assert (await engine.prefill(prefix, other)).cached_tokens == resident


async def test_a_warmed_prefix_is_cached_for_a_chat_that_begins_with_it(engine: Engine) -> None:
    for rendering in await renderings(engine):
        system = new_system()
        text = renderer_for(rendering).render(chat(system, "Hello"))
        prefix = Prefix(text[: text.index("Hello")], rendering)
        ids, resident = await warmed_ids(engine, prefix)
        await engine.prefill(prefix, ids)
        served = await engine.generate(chat(system, "Where is OS-123456789?"), max_tokens=3)
        assert served.cached_tokens is not None
        assert served.cached_tokens >= resident


async def test_a_prompt_ends_where_the_chat_route_ends_it(engine: Engine) -> None:
    """No BOS too many, none missing: the ids of the whole prompt are as many as the chat route counts."""
    request = chat(new_system(), "Hello there")
    served = await engine.generate(request, max_tokens=1)
    own = (await renderings(engine))[1]
    full = renderer_for(own).render(request)
    shared = await engine.shared_tokens([Prefix(full, own)])
    assert shared is not None
    assert served.prompt_tokens is not None
    assert served.prompt_tokens - 1 <= len(shared[0]) <= served.prompt_tokens


async def test_prefill_without_ids(engine: Engine) -> None:
    info = await engine.describe()
    prefix = Prefix(f"<|im_start|>system\n{new_system()}", Rendering())
    first = await engine.prefill(prefix, None)
    again = await engine.prefill(prefix, None)
    assert first.cached_tokens is not None
    assert first.cached_tokens <= almost_nothing(info)
    assert again.cached_tokens == info.whole_blocks(first.prompt_tokens - 1)


async def test_a_generation_is_streamed_and_counted(engine: Engine) -> None:
    info = await engine.describe()
    request = chat(new_system(), "Count to twenty.")
    cold = await engine.generate(request, max_tokens=5)
    assert 1 <= cold.output_tokens <= 5
    assert 1 <= len(cold.token_times_ms) <= 5
    assert 0 < cold.ttft_ms <= cold.total_ms
    assert cold.ttft_ms == cold.token_times_ms[0]
    assert cold.finish_reason in ("length", "stop")
    assert cold.prompt_tokens is not None
    assert cold.prompt_tokens > 60
    assert cold.cached_tokens is not None
    assert cold.cached_tokens <= almost_nothing(info)
    warm = await engine.generate(request, max_tokens=5)
    assert warm.cached_tokens == info.whole_blocks(cold.prompt_tokens - 1)


async def test_a_completion_is_served_as_well(engine: Engine) -> None:
    served = await engine.generate(Request(id="c", prompt=f"{uuid.uuid4()} Once upon a time"), max_tokens=3)
    assert 1 <= served.output_tokens <= 3
    assert served.prompt_tokens is not None


async def test_a_namespace_is_a_cache_of_its_own(engine: Engine) -> None:
    info = await engine.describe()
    request = chat(new_system(), "Hello")
    await engine.generate(request, max_tokens=1)
    first, second = uuid.uuid4().hex[:8], uuid.uuid4().hex[:8]
    assert (await engine.generate(request, max_tokens=1, namespace=first)).cached_tokens <= almost_nothing(info)
    inside = await engine.generate(request, max_tokens=1, namespace=first)
    assert inside.cached_tokens == info.whole_blocks((inside.prompt_tokens or 0) - 1)
    assert (await engine.generate(request, max_tokens=1, namespace=second)).cached_tokens <= almost_nothing(info)


async def test_an_adapter_is_a_cache_of_its_own(engine: Engine) -> None:
    info = await engine.describe()
    prefix = Prefix(f"<|im_start|>system\n{new_system()}", Rendering())
    if "legal" not in info.models:
        with pytest.raises(EngineRejected, match="no adapter 'legal'"):
            await engine.prefill(prefix, None, adapter="legal")
        return
    assert info.model != "legal"
    ids, resident = await warmed_ids(engine, prefix)
    await engine.prefill(prefix, ids)
    assert (await engine.prefill(prefix, ids, adapter="legal")).cached_tokens == 0
    assert (await engine.prefill(prefix, ids, adapter="legal")).cached_tokens == resident
    with pytest.raises(EngineRejected):
        await engine.prefill(prefix, ids, adapter="no-such-adapter")


async def test_a_prompt_that_does_not_fit(engine: Engine) -> None:
    info = await engine.describe()
    context = info.context_tokens or 0
    with pytest.raises(ContextExceeded) as of_prefill:
        await engine.prefill(Prefix("x", Rendering()), [7] * (context + 10))
    assert of_prefill.value.context_tokens == context
    with pytest.raises(ContextExceeded) as of_chat:
        await engine.generate(chat("word " * (context + 100), "Hello"), max_tokens=1)
    assert of_chat.value.context_tokens == context
    assert of_chat.value.prompt_tokens is None or of_chat.value.prompt_tokens > context


async def test_counters_move(engine: Engine) -> None:
    prefix = Prefix(f"<|im_start|>system\n{new_system()}", Rendering())
    before = await engine.counters()
    await engine.prefill(prefix, None)
    after = await engine.counters()
    name = next(n for n in ("vllm:prompt_tokens_total", "llamacpp:prompt_tokens_total") if n in before)
    assert after[name] - before[name] > 50


async def test_reset_empties_or_says_no(engine: Engine) -> None:
    info = await engine.describe()
    prefix = Prefix(f"<|im_start|>system\n{new_system()}", Rendering())
    await engine.prefill(prefix, None)
    if await engine.reset():
        assert (await engine.prefill(prefix, None)).cached_tokens <= almost_nothing(info)
    else:
        assert info.kind == "llamacpp"


async def test_many_prefixes_at_once(engine: Engine) -> None:
    prefixes = [Prefix(f"<|im_start|>system\n{i} {POLICY}", Rendering()) for i in range(20)]
    shared = await engine.shared_tokens(prefixes)
    assert shared is not None
    assert len({tuple(ids) for ids in shared}) == 20


async def test_closing_twice(engine_url: str) -> None:
    engine = await connect(engine_url)
    await engine.close()
    await engine.close()


async def test_nobody_there() -> None:
    with pytest.raises(EngineUnreachable, match=r"cannot reach .*127\.0\.0\.1"):
        await connect(f"http://127.0.0.1:{free_port()}")


async def test_it_goes_away_while_we_are_connected() -> None:
    from preheat.sandbox.server import serve

    async with serve() as server:
        engine = await connect(server.url)
    with pytest.raises(EngineUnreachable):
        await engine.describe()
    await engine.close()
