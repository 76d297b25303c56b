"""Plan what to warm with no engine at hand: token counts and times are then assumed, and the plan says so.

python examples/02-plan-without-an-engine.py
"""

import asyncio
from pathlib import Path

from preheat.files.versioned import digest
from preheat.mine.miner import mine
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport
from preheat.records.units import parse_bytes, show_bytes, show_seconds

LOG = Path(__file__).parent / "data" / "demo_log.jsonl.xz"


async def main() -> None:
    profile = mine(read_requests([str(LOG)], report=ReadReport()), renderer_for(Rendering()))

    # Half a GiB of cache, and an engine that starts when the log ends. What counts is the hour after the start.
    settings = PlanSettings(budget_bytes=parse_bytes("512MiB"), window_s=3600.0)
    plan = await make_plan(profile, settings, profile_hash=digest(profile))

    # Items stand in the order in which to warm them: stop anywhere, and what was spent was spent best.
    print("tokens   new  P(use)  expected uses     cost    gain")
    for item in plan.items[:10]:
        print(
            f"{item.tokens:6} {item.new_tokens:5} {item.use_probability:7.2f} {item.expected_uses:14.2f} "
            f"{item.cost_ms:6.0f} ms {item.gain_ms:4.0f} ms"
        )
    print(f"\n{len(plan.items)} prefixes, {plan.distinct_tokens} tokens, {show_bytes(plan.bytes)}")
    print(f"{show_seconds(plan.cost_ms / 1000)} of prefill now, {show_seconds(plan.gain_ms / 1000)} saved in the hour")
    for note in plan.notes:
        print(f"note: {note}")
    for reason, count in plan.left_out.items():
        print(f"left out: {count} x {reason}")


if __name__ == "__main__":
    asyncio.run(main())
