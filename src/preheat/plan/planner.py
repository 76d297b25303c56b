"""Profile + budget → Plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence, Set
from functools import partial

import xxhash
from msgspec import structs

from preheat.errors import BadInput, InfeasibleBudget
from preheat.plan.candidates import Candidate, text_of
from preheat.plan.forecast import Forecast
from preheat.plan.partitions import choose_partitions
from preheat.plan.selection import OVER, Budget, Selection, Step, select_by_worth, select_in_order
from preheat.plan.settings import PlanSettings
from preheat.plan.states import LEFT_ALONE_BELOW, antichain
from preheat.plan.strategies.strategy import STRATEGIES, Strategy
from preheat.records.outcomes import Retention
from preheat.records.plan import Plan, PlanItem
from preheat.records.profile import Profile
from preheat.records.rendering import Prefix, Rendering
from preheat.records.target import ASSUMED_CHARS_PER_TOKEN, CostModel, EngineInfo
from preheat.records.units import show_bytes, show_seconds

Measure = Callable[[Sequence[Prefix]], Awaitable[list[int] | None]]
"""Counts, with the engine's own tokenizer, the tokens that each prefix shares with all that extends it."""


async def make_plan(
    profile: Profile,
    settings: PlanSettings,
    *,
    profile_hash: str,
    cost: CostModel | None = None,
    engine: EngineInfo | None = None,
    measure: Measure | None = None,
) -> Plan:
    """Choose what to warm.

    Tokens are those that the profile says, else estimated (``cost.chars_per_token``), and, with ``measure``, counted
    exactly for everything that a generous first choice (half as much budget again, no rounding to cache blocks)
    touches; the final choice is made on those. Raises :class:`InfeasibleBudget` when the budgets hold not even one
    item, :class:`BadInput` for an unknown strategy or a profile without text.
    """
    strategy = _strategy(settings, profile)
    cost = _counted_by(profile, cost or CostModel())
    at_s = profile.end_s if settings.at_s is None else settings.at_s
    other: dict[str, int] = {}
    candidates = strategy.propose(profile, Forecast(profile, at_s, settings.window_s), settings)
    candidates = choose_partitions(candidates, profile, settings, engine, other)
    budget, notes = _budget(settings, cost, engine)
    notes += _empty(candidates, profile, settings) if not other else []
    retention = engine.retention if engine else Retention.BLOCKS
    select = partial(_select, candidates, strategy, retention)
    tokens = _estimated(candidates, profile, cost)
    goals = {number for number, found in enumerate(candidates) if found.goal}
    exact: dict[int, int] = {}
    why: dict[int, str] = {}
    if measure is not None:
        first = select(goals, tokens, cost, _generous(budget))
        exact = await _count(measure, candidates, sorted(first.covered_by), profile.rendering)
        if exact:
            cost = _recalibrated(cost, candidates, exact, profile)
            tokens = [exact.get(at, count) for at, count in enumerate(_estimated(candidates, profile, cost))]
            goals &= exact.keys()
            why = {number: reason for number, reason in first.left_out.items() if number not in exact}
    resident = [engine.whole_blocks(count) for count in tokens] if engine else tokens
    chosen = select(goals, resident, cost, budget)
    left_out = Counter(other) + Counter((why | chosen.left_out).values())
    if not chosen.steps and left_out[OVER]:
        raise InfeasibleBudget(
            f"the budget ({_show(budget)}) holds not even one of {len(candidates)} prefixes",
            "raise --budget or --max-time",
        )
    return Plan(
        strategy=settings.strategy,
        profile_hash=profile_hash,
        rendering=profile.rendering,
        block_chars=profile.block_chars,
        at_s=at_s,
        window_s=settings.window_s,
        budget_bytes=None if budget.bytes is None else int(budget.bytes),
        budget_ms=budget.ms,
        cost=cost,
        engine=engine,
        items=_items(chosen, candidates, tokens, exact, profile, engine),
        left_out=dict(left_out),
        notes=notes,
    )


def _strategy(settings: PlanSettings, profile: Profile) -> Strategy:
    if settings.strategy not in STRATEGIES:
        raise BadInput(f"there is no strategy {settings.strategy!r}", f"choose one of: {', '.join(STRATEGIES)}")
    if not profile.has_text and profile.nodes:
        traces = all(profile.partitions[node.partition].block_tokens is not None for node in profile.nodes)
        raise BadInput(
            "the profile has no text, so nothing in it can be warmed",
            "mine a log that has prompts: its log is a trace of block ids" if traces else "mine without --no-text",
        )
    return STRATEGIES[settings.strategy]


def _empty(candidates: list[Candidate], profile: Profile, settings: PlanSettings) -> list[str]:
    """Why there is nothing to choose from, where that is so and was not asked for."""
    if candidates or settings.strategy == "none":
        return []
    if not profile.nodes:
        return [f"nothing to warm: no prompt of the log has a whole block of {profile.block_chars} characters"]
    if settings.strategy == "preheat":
        floor = f"{settings.min_use_probability:.0%}"
        return [f"nothing to warm: no prefix is likely to be asked for again within a day (at least {floor})"]
    return ["nothing to warm: the strategy found no prompt whose text was kept"]


def _budget(settings: PlanSettings, cost: CostModel, engine: EngineInfo | None) -> tuple[Budget, list[str]]:
    """The user's budgets, and the engine's own capacity where that is smaller."""
    notes: list[str] = []
    limit: float | None = settings.budget_bytes
    if engine and engine.capacity_tokens:
        held = engine.capacity_tokens * cost.kv_bytes_per_token * settings.capacity_share
        if limit is None or held < limit:
            share = f"{settings.capacity_share:.0%} of the {engine.capacity_tokens} tokens that the engine can hold"
            notes.append(f"the byte budget is {share}: {show_bytes(held)}")
            limit = held
    if limit is None:
        notes.append("no byte budget was given and the engine does not say its capacity: memory is not bounded")
    if cost.source == "assumed":
        notes.append("prefill time and KV bytes per token are assumed, not measured: give --engine to measure them")
    return Budget(settings.budget_ms, limit), notes


def _generous(budget: Budget) -> Budget:
    return Budget(None if budget.ms is None else budget.ms * 1.5, None if budget.bytes is None else budget.bytes * 1.5)


def _estimated(candidates: list[Candidate], profile: Profile, cost: CostModel) -> list[int]:
    """Tokens of each candidate's whole prefix."""
    return [
        round(found.total_blocks * profile.block_chars / cost.chars_per_token) if found.tokens is None else found.tokens
        for found in candidates
    ]


def _counted_by(profile: Profile, cost: CostModel) -> CostModel:
    """With the profile's characters per token in place of an assumption."""
    if profile.chars_per_token is None or cost.chars_per_token != ASSUMED_CHARS_PER_TOKEN:
        return cost
    return structs.replace(cost, chars_per_token=profile.chars_per_token)


async def _count(
    measure: Measure, candidates: list[Candidate], numbers: list[int], rendering: Rendering
) -> dict[int, int]:
    """Exact tokens of these candidates' whole prefixes; empty where the engine gives no word."""
    if not numbers:
        return {}
    counted = await measure([Prefix(text_of(candidates, number), rendering) for number in numbers])
    return {} if counted is None else dict(zip(numbers, counted, strict=True))


def _recalibrated(cost: CostModel, candidates: list[Candidate], exact: dict[int, int], profile: Profile) -> CostModel:
    tokens = sum(exact.values())
    if not tokens:
        return cost
    chars = sum(candidates[number].total_blocks for number in exact) * profile.block_chars
    return structs.replace(cost, chars_per_token=chars / tokens)


def _select(
    candidates: list[Candidate],
    strategy: Strategy,
    retention: Retention,
    goals: Set[int],
    resident: list[int],
    cost: CostModel,
    budget: Budget,
) -> Selection:
    selection = Selection(candidates, resident, cost, retention)
    states = retention is Retention.STATES
    if states and not strategy.own_order:
        fitting = {number for number in goals if selection.affordable(number, budget)}
        selection.left_out = dict.fromkeys(goals - fitting, OVER)
        goals = antichain(candidates, fitting, resident, selection.left_out)
    select = select_in_order if strategy.own_order else select_by_worth
    select(selection, goals, budget)
    if states:
        selection.keep_together(LEFT_ALONE_BELOW)
    return selection


def _items(
    chosen: Selection,
    candidates: list[Candidate],
    tokens: list[int],
    exact: dict[int, int],
    profile: Profile,
    engine: EngineInfo | None,
) -> list[PlanItem]:
    identities = [_identity(candidates[step.candidate]) for step in chosen.steps]
    items = []
    for step, identity in zip(chosen.steps, identities, strict=True):
        found = candidates[step.candidate]
        partition = profile.partitions[found.partition]
        items.append(
            PlanItem(
                id=identity,
                text=text_of(candidates, step.candidate),
                leader=None if step.leader is None else identities[step.leader],
                blocks=found.total_blocks,
                tokens=tokens[step.candidate],
                resident_tokens=chosen.resident[step.candidate],
                new_tokens=step.new_tokens,
                tokens_exact=step.candidate in exact,
                expected_uses=_rounded(found.expectation.uses),
                use_probability=_rounded(found.expectation.in_window),
                bytes=int(step.bytes),
                cost_ms=_rounded(step.cost_ms),
                gain_ms=_rounded(step.gain_ms),
                tenant=max(found.tenants, key=lambda name: found.tenants[name]) if found.tenants else None,
                tenants=found.tenants,
                adapter=partition.adapter,
                model=partition.model,
                seen=found.seen,
            )
        )
    return items


def _identity(found: Candidate) -> str:
    return xxhash.xxh3_64_hexdigest(f"{found.partition}:{found.hash}".encode())


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _show(budget: Budget) -> str:
    parts = []
    if budget.bytes is not None:
        parts.append(show_bytes(budget.bytes))
    if budget.ms is not None:
        parts.append(f"{show_seconds(budget.ms / 1000)} of prefill")
    return " and ".join(parts) or "none"


__all__ = ["Measure", "Step", "make_plan"]
