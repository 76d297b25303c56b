"""Which strategy is worth its warm-up? The same later traffic on one fresh replica each, in virtual time.

    python examples/04-compare-strategies.py

The sandbox runs inside this process on a clock that jumps from event to event: hours of traffic take seconds, and the
numbers are the same on every machine. They are of a model of an engine, not of an engine.
"""

from pathlib import Path

from preheat.clock import run_virtual
from preheat.files.versioned import digest
from preheat.judge.metrics.metric import Subject, read_all
from preheat.judge.metrics.table import REPLAY_METRICS
from preheat.mine.miner import mine
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.plan.strategies.strategy import STRATEGIES
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.read.split import Split, find_cut
from preheat.records.evidence import Metric
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport, Request
from preheat.records.run import WarmRun
from preheat.records.target import CostModel
from preheat.replay.player import Player
from preheat.replay.settings import ReplaySettings
from preheat.sandbox.inprocess import InProcessEngine
from preheat.sandbox.settings import SandboxSettings
from preheat.stages import measure_with
from preheat.warm.runner import Warmer

LOG = Path(__file__).parent / "data" / "demo_log.jsonl.xz"
WINDOW_S = 5_400.0
BUDGETS_MS = (4_000.0, 8_000.0)  # of prefill that every strategy may plan: a tight budget, and a wide one
SANDBOX = SandboxSettings(prefill_ms_per_token=1.0)
COST = CostModel(prefill_ms_per_token=SANDBOX.prefill_ms_per_token, source="given")


async def measure(
    strategy: str, budget_ms: float, profile: Profile, later: list[Request], at_s: float
) -> tuple[Plan, WarmRun, dict[str, Metric]]:
    """Plan, warm and replay on an engine that has seen nothing yet."""
    engine = InProcessEngine(SANDBOX)
    plan = await make_plan(
        profile,
        PlanSettings(strategy=strategy, budget_ms=budget_ms, at_s=at_s, window_s=WINDOW_S),
        profile_hash=digest(profile),
        cost=COST,
        engine=await engine.describe(),
        measure=measure_with(engine),
    )
    warm_run = await Warmer(plan, engine).run()
    settings = ReplaySettings(window_s=WINDOW_S, output_tokens=4)
    run = await Player(later, engine, settings, label=strategy, from_s=at_s).run()
    return plan, warm_run, {metric.name: metric for metric in read_all(REPLAY_METRICS, Subject(run=run))}


def main() -> None:
    # Learn from what lies before the cut, replay what comes after it: nothing is ever in both.
    cut = find_cut([str(LOG)], "175200", WINDOW_S)
    split = Split(read_requests([str(LOG)], report=ReadReport()), cut)
    profile = mine(split.learnt(), renderer_for(Rendering()))
    print(f"learnt from {profile.requests} requests, replaying the {len(split.later)} of the next 90 minutes\n")

    print("budget  strategy        items  computed    hit rate   mean TTFT    P95 TTFT")
    for budget_ms in BUDGETS_MS:
        for strategy in STRATEGIES:
            plan, warm_run, metrics = run_virtual(measure(strategy, budget_ms, profile, split.later, cut.until_s))
            hit_rate, mean, p95 = (metrics[name].value or 0.0 for name in ("hit_rate", "ttft_mean", "ttft_p95"))
            print(
                f"{budget_ms / 1000:4.0f} s  {strategy:14} {len(plan.items):6} {warm_run.tokens_computed:9} "
                f"{hit_rate:11.1%} {mean:8.1f} ms {p95:8.1f} ms"
            )
    print(f"\nhit rate: {metrics['hit_rate'].formula}, over {metrics['hit_rate'].denominator.partition(' (')[0]}")
    print("computed: tokens that the warm-up made the engine compute, its probes included")


if __name__ == "__main__":
    main()
