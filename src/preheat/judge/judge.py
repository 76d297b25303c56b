"""Runs → Evidence: what warming bought, with every denominator."""

from __future__ import annotations

from datetime import UTC, datetime

from preheat.judge.caveats import caveats
from preheat.judge.compare import compare
from preheat.judge.doubts import doubts
from preheat.judge.facts import facts, skipped
from preheat.judge.headline import headline
from preheat.judge.insight import insight
from preheat.judge.metrics.cold_start_cost import CONTRADICTIONS
from preheat.judge.metrics.metric import Subject, read_all
from preheat.judge.metrics.table import REPLAY_METRICS, WARMUP_METRICS
from preheat.judge.redundancy import Redundancy
from preheat.judge.rerun import commands, placeholders
from preheat.judge.series import chart_series
from preheat.judge.shown import excerpt, plain
from preheat.records.evidence import Comparison, Evidence, Metric
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.run import ReplayRun, WarmRun


def judge(
    *,
    cold: ReplayRun | None,
    warm: ReplayRun | None,
    warm_run: WarmRun | None = None,
    plan: Plan | None = None,
    profile: Profile | None = None,
    redundancy: Redundancy | None = None,
    steady: ReplayRun | None = None,
    title: str,
    created: str | None = None,
    command_lines: list[str] | None = None,
) -> Evidence:
    """The evidence of a warm-up: any part may be missing, and what cannot be told then says so.

    ``cold`` and ``warm`` are replays of the same requests. ``steady`` is the warm baseline of spec 2.5; without
    one, the warmed replica is the baseline of the cold one and has none itself. ``created`` is ISO 8601, now if
    left out; ``command_lines`` are what was really run, the stages' usual lines if left out. ``promises`` holds
    the residency target; :func:`preheat.judge.fail_on.fail_on` adds to it.
    """
    comparisons = compare(cold, warm) if cold is not None and warm is not None else []
    doubted = doubts(cold, warm_run, plan) if cold is not None and warm is not None else []
    cold_metrics = _replay(cold, steady or warm)
    warm_metrics = _replay(warm, steady)
    notes = _notes(cold, warm, plan, [*cold_metrics, *warm_metrics], comparisons)
    lines = commands(cold, warm, warm_run, plan, profile)
    return Evidence(
        created=created or datetime.now(UTC).isoformat(timespec="seconds"),
        title=plain(title),
        headline=headline(comparisons, {"cold": cold_metrics, "warm": warm_metrics}, warm_run, (cold, warm), doubted),
        warnings=[reason[:1].upper() + reason[1:] + "." for reason in doubted],
        comparisons=comparisons,
        cold=cold_metrics,
        warm=warm_metrics,
        warmup=_warmup(cold, warm, warm_run, plan, redundancy),
        outcomes=warm_run.counts if warm_run is not None else {},
        series=chart_series(cold, warm, warm_run),
        facts=facts(cold, warm, warm_run, plan, profile),
        skipped=skipped(cold, warm, warm_run, plan, profile),
        commands=lines if command_lines is None else [plain(line) for line in command_lines],
        notes=notes + ([said] if command_lines is None and (said := placeholders(lines)) else []),
        promises=_promises(warm_run),
        insight=insight(profile) if profile is not None else None,
    )


def _replay(run: ReplayRun | None, baseline: ReplayRun | None) -> list[Metric]:
    return read_all(REPLAY_METRICS, Subject(run=run, baseline=baseline)) if run is not None else []


def _warmup(
    cold: ReplayRun | None,
    warm: ReplayRun | None,
    warm_run: WarmRun | None,
    plan: Plan | None,
    redundancy: Redundancy | None,
) -> list[Metric]:
    measured: list[Metric] = []
    if warm_run is not None or plan is not None:
        replayed = tuple(run for run in (warm, cold) if run is not None)
        measured = read_all(WARMUP_METRICS, Subject(warm_run=warm_run, plan=plan, replayed=replayed))
    return measured + ([redundancy.metric()] if redundancy is not None else [])


def _promises(warm_run: WarmRun | None) -> dict[str, bool]:
    if warm_run is None:
        return {}
    nothing_to_warm = not warm_run.items
    kept = nothing_to_warm or (warm_run.residency is not None and warm_run.residency >= warm_run.verify_target)
    return {f"residency>={warm_run.verify_target:g}": kept}


def _notes(
    cold: ReplayRun | None,
    warm: ReplayRun | None,
    plan: Plan | None,
    metrics: list[Metric],
    comparisons: list[Comparison],
) -> list[str]:
    """What to know before believing the numbers: caveats of metrics, of the runs, and the formula's contradictions."""
    notes = caveats(cold, warm, comparisons) if cold is not None and warm is not None else []
    notes += [
        f"{side}: {excerpt(note, 300)}"
        for side, run in (("Cold replay", cold), ("Warm replay", warm))
        if run
        for note in run.notes
    ]
    notes += [f"Plan: {excerpt(note, 300)}" for note in plan.notes] if plan is not None else []
    if cold is not None and warm is not None:
        notes += _mismatches(cold, warm)
        notes += _one_engine(cold, warm)
    notes += dict.fromkeys(f"{metric.title}: {metric.note}." for metric in metrics if metric.note)
    if any(metric.name == "cold_start_cost" for metric in metrics):
        notes.append(CONTRADICTIONS)
    return notes


def _mismatches(cold: ReplayRun, warm: ReplayRun) -> list[str]:
    """Ways in which two replays are not the same experiment."""
    pairs = (
        ("model", cold.engine.model, warm.engine.model),
        ("kind of engine", cold.engine.kind, warm.engine.kind),
        ("log", cold.log, warm.log),
        ("start in the log (s)", cold.from_s, warm.from_s),
        ("window (s)", cold.window_s, warm.window_s),
        ("speed", cold.speed, warm.speed),
    )
    return [
        f"The two replays differ in their {what}: {excerpt(str(a))} cold, {excerpt(str(b))} warm."
        for what, a, b in pairs
        if a != b
    ]


def _one_engine(cold: ReplayRun, warm: ReplayRun) -> list[str]:
    if cold.engine.url != warm.engine.url or cold.salted:
        return []
    return [
        "Both replays went to the same address and the cold one had no cache namespace of its own: unless the engine "
        "was restarted in between, what the cold replay left in the cache served the warm one too."
    ]
