"""The circumstances of the measurement, and what was left out on the way."""

from __future__ import annotations

from collections import Counter

from preheat.judge.shown import address, excerpt
from preheat.records.outcomes import Outcome
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.run import ReplayRun, WarmRun
from preheat.records.target import EngineInfo
from preheat.records.units import show_bytes, show_seconds

MOST_REASONS = 12
ESTIMATED = "estimated from characters"


def facts(
    cold: ReplayRun | None, warm: ReplayRun | None, warm_run: WarmRun | None, plan: Plan | None, profile: Profile | None
) -> dict[str, str]:
    """Name → value in words; only what is known."""
    told: dict[str, str] = {}
    run = warm or cold
    engine = run.engine if run else warm_run.engine if warm_run else plan.engine if plan else None
    if engine is not None:
        told |= _engine(engine)
    if cold is not None and warm is not None and cold.engine.url != warm.engine.url:
        told["cold replica"] = address(cold.engine.url)
    if run is not None:
        told |= _replay(run)
    told |= _salted(cold, warm)
    if plan is not None:
        told |= _plan(plan)
    if profile is not None:
        told["profile"] = (
            f"{profile.requests} requests, {profile.distinct_blocks} distinct of {profile.blocks} blocks, "
            f"{show_seconds(profile.end_s - profile.start_s)} of the log"
        )
    return told


def _engine(engine: EngineInfo) -> dict[str, str]:
    told = {"engine": excerpt(f"{engine.kind} {engine.version or ''}") + f" at {address(engine.url)}"}
    if engine.model:
        told["model"] = excerpt(engine.model)
    if engine.capacity_tokens is not None:
        told["cache capacity"] = f"{engine.capacity_tokens} tokens in blocks of {engine.block_tokens}"
    if engine.context_tokens is not None:
        told["context"] = f"{engine.context_tokens} tokens"
    return told


def _replay(run: ReplayRun) -> dict[str, str]:
    return {
        "log": excerpt(run.log, 300),
        "window": f"log seconds {run.from_s:.0f} to {run.last_s:.0f}, of a window of {show_seconds(run.window_s)}",
        "speed": f"{run.speed:.3g}x of the recorded pace",
        "requests": f"{run.sent} requests of the window were sent",
        "replayed": excerpt(run.started),
    }


def _salted(cold: ReplayRun | None, warm: ReplayRun | None) -> dict[str, str]:
    """Whether the replays' traffic had a cache namespace of its own, each by itself where they differ."""
    words = {True: "yes, in a cache namespace of its own", False: "no"}
    told = {side: words[run.salted] for side, run in (("cold", cold), ("warm", warm)) if run is not None}
    if len(set(told.values())) > 1:
        return {"salted": "; ".join(f"{side}: {said}" for side, said in told.items())}
    return {"salted": next(iter(told.values()))} if told else {}


def _plan(plan: Plan) -> dict[str, str]:
    exact = sum(item.tokens_exact for item in plan.items)
    counted = f"exact for {exact} of {len(plan.items)} items, estimated from characters for the rest"
    counted = "exact, by the engine's tokenizer" if exact == len(plan.items) else counted if exact else ESTIMATED
    budget = [] if plan.budget_bytes is None else [show_bytes(plan.budget_bytes)]
    budget += [] if plan.budget_ms is None else [f"{show_seconds(plan.budget_ms / 1000)} of prefill"]
    return {
        "strategy": excerpt(plan.strategy),
        "plan": f"{len(plan.items)} items, {plan.distinct_tokens} distinct tokens, {show_bytes(plan.bytes)}",
        "budget": ", ".join(budget) or "none given",
        "tokens": counted,
        "cost model": f"{plan.cost.prefill_ms_per_token:.3f} ms per token ({excerpt(plan.cost.source)})",
    }


def skipped(
    cold: ReplayRun | None, warm: ReplayRun | None, warm_run: WarmRun | None, plan: Plan | None, profile: Profile | None
) -> dict[str, int]:
    """What was left out at every stage, by reason; the commonest :data:`MOST_REASONS` of each stage."""
    tally: dict[str, int] = {}
    if profile is not None:
        tally |= _commonest("log", Counter(profile.skipped))
    if plan is not None:
        tally |= _commonest("plan", Counter(plan.left_out))
    if warm_run is not None:
        done = (Outcome.LOADED, Outcome.ALREADY)
        tally |= _commonest(
            "warm-up",
            Counter(f"{item.status.value}: {item.reason}" for item in warm_run.items if item.status not in done),
        )
    for side, run in (("cold replay", cold), ("warm replay", warm)):
        if run is not None:
            tally |= _commonest(side, Counter(f"failed: {one.error}" for one in run.requests if one.error is not None))
            unsent = run.window_requests - len(run.requests)
            tally |= {f"{side}: not sent": unsent} if unsent > 0 else {}
    return tally


def _commonest(stage: str, reasons: Counter[str]) -> dict[str, int]:
    short: Counter[str] = Counter()
    for reason, count in reasons.items():
        short[excerpt(f"{stage}: {reason}".rstrip(": "))] += count
    kept = dict(short.most_common(MOST_REASONS))
    rest = short.total() - sum(kept.values())
    return kept | ({f"{stage}: other reasons": rest} if rest else {})
