"""A plan mined from a real log, carried out on every engine: what it predicts is what the engine then reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from engines.vllm_setup import home
from preheat.engines.engine import Engine, rendering_of
from preheat.engines.table import connect
from preheat.mine.miner import mine
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.hugging_face import load_rendering
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.outcomes import Retention
from preheat.records.plan import Plan
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport
from preheat.records.target import CostModel
from preheat.stages import measure_with
from preheat.warm.runner import Warmer

DEMO_LOG = Path(__file__).parents[2] / "examples" / "data" / "demo_log.jsonl.xz"
CUT_S = 175_200.0
LLAMACPP_TOKENS = 1_500
"""Keeps the slow engine's share of the suite short."""


async def plan_for(engine: Engine, rendering: Rendering, like_llamacpp: bool = False) -> Plan:
    requests = (
        each
        for each in read_requests([str(DEMO_LOG)], report=ReadReport())
        if each.time_s is not None and each.time_s < CUT_S
    )
    profile = mine(requests, renderer_for(rendering))
    info = await engine.describe()
    if like_llamacpp:
        info = msgspec.structs.replace(info, kind="llamacpp", block_tokens=1, retention=Retention.STATES)
    cost = CostModel(prefill_ms_per_token=1.0, kv_bytes_per_token=1.0)
    limit_ms = float(LLAMACPP_TOKENS) if info.kind == "llamacpp" and not like_llamacpp else None
    return await make_plan(
        profile,
        PlanSettings(window_s=5_400.0, budget_ms=limit_ms),
        profile_hash="",
        cost=cost,
        engine=info,
        measure=measure_with(engine),
    )


async def check(
    engine: Engine, rendering: Rendering, at_least: int, say: Callable[[str], None], like_llamacpp: bool = False
) -> None:
    await engine.reset()
    info = await engine.describe()
    plan = await plan_for(engine, rendering, like_llamacpp)
    assert len(plan.items) >= at_least
    assert all(item.tokens_exact for item in plan.items)
    run = await Warmer(plan, engine).run()
    said = {item.id: item.cached_tokens for item in run.items}
    predicted = {item.id: info.whole_blocks(item.resident_tokens) for item in plan.items}
    as_predicted = sum(said[item.id] == predicted[item.id] for item in plan.items)
    ratio = run.tokens_computed / plan.distinct_tokens
    say(
        f"{info.kind}: {as_predicted} of {len(plan.items)} items report exactly the predicted tokens, residency "
        f"{run.residency:.3f}, {ratio:.3f} x the plan's distinct tokens computed"
    )
    assert as_predicted >= 0.95 * len(plan.items), [
        (predicted[item.id], said[item.id]) for item in plan.items if said[item.id] != predicted[item.id]
    ]
    assert run.residency is not None
    assert run.residency >= 0.95
    assert ratio <= 1.1


async def test_what_the_plan_predicts_is_resident_to_the_block(engine: Engine, say: Callable[[str], None]) -> None:
    """With the engine's own template, where it says it; vLLM does not, so there it is the model folder's."""
    info = await engine.describe()
    rendering = rendering_of(info)
    if rendering is None:
        rendering = load_rendering(home() / "tiny")
    await check(engine, rendering, 5 if info.kind == "llamacpp" else 15, say)


@pytest.mark.heavy
@pytest.mark.vllm
@pytest.mark.timeout(2400)
async def test_the_default_rendering_is_translated_into_the_template_of_a_real_vllm(
    vllm_url: str, say: Callable[[str], None]
) -> None:
    """Prompts mined in our own form are warmed through messages, and land on the engine's blocks all the same."""
    engine = await connect(vllm_url)
    try:
        await check(engine, Rendering(), 15, say)
    finally:
        await engine.close()


@pytest.mark.heavy
@pytest.mark.vllm
@pytest.mark.timeout(2400)
async def test_a_plan_made_for_llamacpp_holds_on_a_real_vllm(vllm_url: str, say: Callable[[str], None]) -> None:
    """A plan is not bound to the engine it was made for: its prefixes are cut to the other's whole blocks."""
    engine = await connect(vllm_url)
    try:
        await check(engine, load_rendering(home() / "tiny"), 15, say, like_llamacpp=True)
    finally:
        await engine.close()
