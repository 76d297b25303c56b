"""Warm an engine over HTTP and let it say itself what is resident. The engine is the sandbox; a real one is its URL.

python examples/03-warm-a-sandbox-and-prove-it.py
"""

import asyncio
from pathlib import Path

from preheat.engines.calibrate import calibrate
from preheat.engines.engine import rendering_of
from preheat.engines.table import connect
from preheat.files.versioned import digest
from preheat.mine.miner import mine
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport
from preheat.sandbox.server import serve
from preheat.sandbox.settings import SandboxSettings
from preheat.stages import measure_with
from preheat.warm.runner import Warmer

LOG = Path(__file__).parent / "data" / "demo_log.jsonl.xz"


async def warm(url: str) -> None:
    # The adapter is chosen by what answers at the URL: llama.cpp, vLLM (which the sandbox speaks), or any other.
    engine = await connect(url)
    try:
        # Prompts are rendered as the engine renders them, where it says how; its own speed and tokens go into the plan.
        info = await engine.describe()
        rendering = rendering_of(info) or Rendering()
        profile = mine(read_requests([str(LOG)], report=ReadReport()), renderer_for(rendering))
        speed = await calibrate(engine, info)
        plan = await make_plan(
            profile,
            PlanSettings(window_s=3600.0),
            profile_hash=digest(profile),
            cost=speed.cost,
            engine=info,
            measure=measure_with(engine),
        )
        print(f"{len(plan.items)} prefixes, {plan.distinct_tokens} tokens, times {plan.cost.source}")

        # Warm, then ask again for each: only the engine's own count of cached tokens is proof. A 200 is none.
        run = await Warmer(plan, engine).run()
        print(f"warmed in {run.duration_s:.1f} s: {run.counts}")
        print(f"proven resident: {run.verified} of {len(run.attempted)} attempted")
        print(f"{run.tokens_computed} tokens computed, probes included, of {run.distinct_tokens} distinct ones")

        # Whoever does it again finds everything there.
        again = await Warmer(plan, engine).run()
        print(f"a second time: {again.counts}, {again.tokens_computed} tokens computed")
    finally:
        await engine.close()


async def main() -> None:
    async with serve(SandboxSettings(prefill_ms_per_token=0.02)) as server:
        await warm(server.url)


if __name__ == "__main__":
    asyncio.run(main())
