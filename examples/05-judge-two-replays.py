"""The same requests on a cold and on a warmed replica, and what the comparison says: the whole job as single calls.

    python examples/05-judge-two-replays.py [FOLDER FOR THE REPORT]

This is `preheat up` taken apart, with two replicas of the sandbox in virtual time.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from preheat.clock import run_virtual
from preheat.files.versioned import digest
from preheat.judge.judge import judge
from preheat.judge.report_html import write_report
from preheat.judge.report_terminal import print_report
from preheat.mine.miner import mine
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.read.split import Split, find_cut
from preheat.records.evidence import Evidence
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport, Request
from preheat.replay.coverage import coverage_of
from preheat.replay.player import Player
from preheat.replay.settings import ReplaySettings
from preheat.sandbox.inprocess import InProcessEngine
from preheat.sandbox.settings import SandboxSettings
from preheat.stages import measure_with
from preheat.warm.runner import Warmer

LOG = Path(__file__).parent / "data" / "demo_log.jsonl.xz"
WINDOW_S = 5_400.0


async def compare(profile: Profile, later: list[Request], at_s: float) -> Evidence:
    settings = SandboxSettings(prefill_ms_per_token=1.0)
    cold, warmed = InProcessEngine(settings, name="cold"), InProcessEngine(settings, name="warmed")
    plan = await make_plan(
        profile,
        PlanSettings(at_s=at_s, window_s=WINDOW_S),
        profile_hash=digest(profile),
        engine=await warmed.describe(),
        measure=measure_with(warmed),
    )
    warm_run = await Warmer(plan, warmed).run()

    # Open loop: a request leaves when the log says, whether or not earlier ones have come back.
    covered = coverage_of(plan, renderer_for(plan.rendering))
    replay = ReplaySettings(window_s=WINDOW_S, output_tokens=4)
    cold_run, warm_replay = await asyncio.gather(
        Player(later, cold, replay, label="cold", from_s=at_s, coverage=covered).run(),
        Player(later, warmed, replay, label="warm", from_s=at_s, coverage=covered).run(),
    )
    return judge(
        cold=cold_run,
        warm=warm_replay,
        warm_run=warm_run,
        plan=plan,
        profile=profile,
        title="Warming a sandbox (a model of an engine, not an engine)",
    )


def main(folder: Path) -> None:
    cut = find_cut([str(LOG)], "175200", WINDOW_S)
    split = Split(read_requests([str(LOG)], report=ReadReport()), cut)
    profile = mine(split.learnt(), renderer_for(Rendering()))
    evidence = run_virtual(compare(profile, split.later, cut.until_s))
    print_report(evidence)
    _, page = write_report(evidence, folder)
    print(f"report: {page}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="preheat-example-")))
