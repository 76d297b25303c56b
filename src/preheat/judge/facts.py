"""The circumstances of the measurement, what was left out on the way, and how to do it again."""

from __future__ import annotations

import shlex
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
    if plan is not None:
        told |= _plan(plan)
    if profile is not None:
        told["profile"] = (
            f"{profile.requests} requests, {profile.distinct_blocks} distinct of {profile.blocks} blocks, "
            f"{show_seconds(profile.end_s - profile.start_s)} of the log"
        )
    return told


def _engine(engine: EngineInfo) -> dict[str, str]:
    told = {"engine": f"{engine.kind} {engine.version or ''}".strip() + f" at {address(engine.url)}"}
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
        "salted": "yes, so that a replay does not warm the next one" if run.salted else "no",
        "replayed": run.started,
    }


def _plan(plan: Plan) -> dict[str, str]:
    exact = sum(item.tokens_exact for item in plan.items)
    counted = f"exact for {exact} of {len(plan.items)} items, estimated from characters for the rest"
    counted = "exact, by the engine's tokenizer" if exact == len(plan.items) else counted if exact else ESTIMATED
    budget = [] if plan.budget_bytes is None else [show_bytes(plan.budget_bytes)]
    budget += [] if plan.budget_ms is None else [f"{show_seconds(plan.budget_ms / 1000)} of prefill"]
    return {
        "strategy": plan.strategy,
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


def commands(cold: ReplayRun | None, warm: ReplayRun | None, warm_run: WarmRun | None, plan: Plan | None) -> list[str]:
    """The lines that measure it again, as far as the records tell; file names are the stages' usual ones."""
    lines: list[str] = []
    if plan is not None:
        budget = "" if plan.budget_bytes is None else f" --budget {plan.budget_bytes}"
        at = f"--at {plan.at_s!r} --window {plan.window_s:g}s"
        lines.append(f"preheat plan profile.json --strategy {plan.strategy}{budget} {at} -o plan.json")
    if cold is not None:
        lines.append(_replay_line(cold, "cold.json"))
    if warm_run is not None:
        lines.append(f"preheat warm plan.json --engine {shlex.quote(address(warm_run.engine.url))} -o warm.json")
    if warm is not None:
        lines.append(_replay_line(warm, "warmed.json"))
    if cold is not None and warm is not None:
        lines.append("preheat judge warmed.json --baseline cold.json -o report/")
    elif cold is not None or warm is not None:
        lines.append(f"preheat judge {'cold' if cold else 'warmed'}.json -o report/")
    return lines


def _replay_line(run: ReplayRun, out: str) -> str:
    log, url = shlex.quote(address(run.log)), shlex.quote(address(run.engine.url))
    window = f"--from {run.from_s!r} --window {run.window_s:g}s --speed {run.speed:g}"
    return f"preheat replay {log} --engine {url} {window} -o {out}"
