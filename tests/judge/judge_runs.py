"""Replays, a warm-up and a plan made up for the tests: 60 requests over 6 planned prefixes."""

from __future__ import annotations

import random

from preheat.records.outcomes import Outcome
from preheat.records.plan import Plan, PlanItem
from preheat.records.run import ItemRun, ReplayRun, RequestRun, WarmRun
from preheat.records.target import EngineInfo

ENGINE = EngineInfo(
    kind="llamacpp", url="http://127.0.0.1:8080", model="smollm2-135m", version="b6000", context_tokens=8192
)
ITEMS = 6
PREFIX_TOKENS = 400


def request(id: str, ttft_ms: float | None = 100.0, **more: object) -> RequestRun:
    return RequestRun(id=id, due_s=float(more.pop("due_s", 0.0)), ttft_ms=ttft_ms, **more)  # type: ignore[arg-type]


def replay(requests: list[RequestRun], label: str = "cold", **more: object) -> ReplayRun:
    settings: dict[str, object] = {
        "engine": ENGINE,
        "started": "2026-01-05T09:00:00+00:00",
        "log": "logs/monday.jsonl.gz",
        "from_s": 86_400.0,
        "window_s": 300.0,
        "speed": 1.0,
        "duration_s": 300.0,
        "busy": 0.42,
        "window_requests": len(requests),
    }
    return ReplayRun(label=label, requests=requests, **(settings | more))  # type: ignore[arg-type]


def traffic(warmed: bool, count: int = 60, seed: int = 7) -> ReplayRun:
    """Requests in turn over the prefixes: cold, the first of each pays for the whole prefix."""
    draw = random.Random(seed)
    seen: set[int] = set(range(ITEMS)) if warmed else set()
    made = []
    for number in range(count):
        item, tail = number % ITEMS, draw.randint(20, 60)
        prompt = PREFIX_TOKENS + tail
        cached = PREFIX_TOKENS if item in seen else 0
        seen.add(item)
        computing = (prompt - cached) * (1 + 0.1 * draw.random())
        made.append(
            request(
                f"r{number}",
                round(computing + 8, 2),
                due_s=number * 5.0,
                prompt_ms=round(computing, 2),
                prompt_tokens=prompt,
                cached_tokens=cached,
                output_tokens=16,
                itl_ms=round(12 + draw.random(), 2),
                total_ms=round(computing + 200, 2),
                item=f"i{item}",
                item_share=PREFIX_TOKENS / prompt,
            )
        )
    return replay(made, "warm" if warmed else "cold")


def plan_item(id: str, text: str | None, **more: object) -> PlanItem:
    settings: dict[str, object] = {
        "blocks": len(text or "") // 64,
        "tokens": PREFIX_TOKENS,
        "resident_tokens": PREFIX_TOKENS,
        "new_tokens": PREFIX_TOKENS,
        "expected_uses": 10.0,
        "use_probability": 0.99,
        "bytes": 1_000_000,
        "cost_ms": 400.0,
        "gain_ms": 3600.0,
    }
    return PlanItem(id=id, text=text, **(settings | more))  # type: ignore[arg-type]


def plan(extra: int = 2) -> Plan:
    """The six prefixes that the traffic asks for, and ``extra`` that nobody does."""
    items = [plan_item(f"i{n}", f"<|system|>role {n} " + f"{n}" * 640, tokens_exact=True) for n in range(ITEMS + extra)]
    return Plan(
        strategy="profile",
        profile_hash="0" * 64,
        at_s=86_400.0,
        window_s=300.0,
        budget_bytes=64 << 20,
        items=items,
        left_out={"does not fit the budget": 3},
    )


def warm_run(extra: int = 2) -> WarmRun:
    """Six items loaded, the first of ``extra`` missing, the rest deferred."""
    loaded = [
        ItemRun(
            id=f"i{n}",
            status=Outcome.LOADED,
            predicted_tokens=PREFIX_TOKENS,
            cached_tokens=PREFIX_TOKENS,
            computed_tokens=PREFIX_TOKENS,
            probe_tokens=1,
            warm_ms=420.0,
            probe_ms=12.0,
            attempts=1,
        )
        for n in range(ITEMS)
    ]
    others = [
        ItemRun(
            id=f"i{ITEMS + n}",
            status=Outcome.MISSING if n == 0 else Outcome.DEFERRED,
            predicted_tokens=PREFIX_TOKENS,
            cached_tokens=0 if n == 0 else None,
            computed_tokens=PREFIX_TOKENS if n == 0 else 0,
            warm_ms=400.0 if n == 0 else 0.0,
            reason="evicted before the probe" if n == 0 else "time ran out",
        )
        for n in range(extra)
    ]
    return WarmRun(
        plan_hash="1" * 64,
        engine=ENGINE,
        started="2026-01-05T08:59:00+00:00",
        duration_s=3.1,
        verify_target=0.95,
        items=loaded + others,
        distinct_tokens=PREFIX_TOKENS * (ITEMS + extra),
    )
