"""What else than warming may stand behind a difference: the queue, and a machine that changed its speed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean

from preheat.judge.bootstrap import ratio_interval
from preheat.judge.pairs import Pair, paired
from preheat.records.evidence import Comparison
from preheat.records.run import ReplayRun

QUEUE_SHARE = 0.2
"""From this share of the TTFT difference on, waiting is said."""
DRIFT = 0.15
"""A control that is off by more than this is said."""
ALIKE_TOKENS = 16
CONTROL = "control_prompt_ms"
CONTROL_FORMULA = (
    "requests whose tokens from the cache are the same in both runs (to one block): mean(prompt_ms) per token that was "
    "not cached, cold / warm; 1 where the machine was as fast in both"
)


def caveats(cold: ReplayRun, warm: ReplayRun, comparisons: Sequence[Comparison]) -> list[str]:
    """Notes on what the difference holds besides prefill that warming saved."""
    control = next((one for one in comparisons if one.name == CONTROL), None)
    found = [waiting(paired(cold, warm)), drift(control) if control else "", apart_in_time(cold, warm)]
    return [note for note in found if note]


def waiting(pairs: Sequence[Pair]) -> str:
    """How much of the TTFT difference is waiting (TTFT less the engine's prompt processing), where that is much."""
    told = [
        (pair.cold.ttft_ms, pair.cold.prompt_ms, pair.warm.ttft_ms, pair.warm.prompt_ms)
        for pair in pairs
        if pair.cold.ttft_ms is not None and pair.warm.ttft_ms is not None
        if pair.cold.prompt_ms is not None and pair.warm.prompt_ms is not None
    ]
    if not told:
        return ""
    cold_ttft, cold_prompt, warm_ttft, warm_prompt = (fmean(column) for column in zip(*told, strict=True))
    cold_waits, warm_waits = cold_ttft - cold_prompt, warm_ttft - warm_prompt
    if abs(cold_waits - warm_waits) <= QUEUE_SHARE * abs(cold_ttft - warm_ttft):
        return ""
    changed = (
        f"changed {cold_prompt / warm_prompt:.2f}x" if warm_prompt else f"was {cold_prompt:.0f} ms cold, 0 ms warm"
    )
    ttft, waits = cold_ttft - warm_ttft, cold_waits - warm_waits
    return (
        f"Of the difference of {ttft:.0f} ms in mean TTFT, {waits:.0f} ms is waiting in the queue, not prefill "
        f"(mean waiting, TTFT less prompt processing: {cold_waits:.0f} ms cold, {warm_waits:.0f} ms warm; "
        f"{len(told)} requests); the engine's own prompt processing {changed}. Waiting depends on the replay's pace."
    )


def control(pairs: Sequence[Pair], cold: ReplayRun, warm: ReplayRun, of: str) -> Comparison:
    """Prompt processing of the requests that warming did not touch, per token computed; its ratio is about 1."""
    block = max(ALIKE_TOKENS, cold.engine.block_tokens, warm.engine.block_tokens)
    told = [made for pair in pairs if (made := _untouched(pair, block)) is not None]
    values = [(a * weight, b * weight) for a, b, weight in told]
    total = sum(weight for _, _, weight in told)
    cold_ms, warm_ms = sum(a for a, _ in values), sum(b for _, b in values)
    interval = ratio_interval(values)
    why = "the warm value is zero" if told and not warm_ms else ""
    return Comparison(
        name=CONTROL,
        title="Control: requests that warming did not touch",
        unit="ms/token",
        cold=cold_ms / total if told else None,
        warm=warm_ms / total if told else None,
        ratio=cold_ms / warm_ms if warm_ms else None,
        denominator=f"{len(told)} {of}",
        formula=CONTROL_FORMULA,
        pairs=len(told),
        ratio_low=interval[0] if interval else None,
        ratio_high=interval[1] if interval else None,
        why=why if told else "no request had as much from the cache in both runs, by the engine's word",
    )


def _untouched(pair: Pair, block: int) -> tuple[float, float, float] | None:
    """(ms per uncached token cold, warm, their mean uncached tokens) of a pair with equal cached tokens."""
    cold, warm = pair.cold, pair.warm
    if cold.cached_tokens is None or warm.cached_tokens is None or cold.prompt_ms is None or warm.prompt_ms is None:
        return None
    uncached = (cold.prompt_tokens or 0) - cold.cached_tokens, (warm.prompt_tokens or 0) - warm.cached_tokens
    if abs(cold.cached_tokens - warm.cached_tokens) > block or min(uncached) <= 0:
        return None
    return cold.prompt_ms / uncached[0], warm.prompt_ms / uncached[1], sum(uncached) / 2


def drift(control: Comparison) -> str:
    """By how much the machine's speed differs between the runs, where the control says that it does."""
    if control.ratio is None or abs(control.ratio - 1) <= DRIFT:
        return ""
    low, high = control.ratio_low, control.ratio_high
    interval = f", 95 % interval {low:.2f} to {high:.2f}" if low is not None and high is not None else ""
    return (
        f"The machine's speed drifted between the runs: the requests that warming did not touch were processed "
        f"at a ratio of {control.ratio:.2f} cold / warm per token ({control.pairs} requests{interval}), where 1 is "
        "expected. The other ratios hold that drift too."
    )


def apart_in_time(cold: ReplayRun, warm: ReplayRun) -> str:
    """That the replays did not run side by side, from when they started and how long they took."""
    spans = [_span(run) for run in (cold, warm)]
    if spans[0] is None or spans[1] is None:
        return ""
    (a, b), (c, d) = spans[0], spans[1]
    together = (min(b, d) - max(a, c)).total_seconds()
    if together >= 0.5 * min(cold.duration_s, warm.duration_s):
        return ""
    clock = "%H:%M:%S"
    return (
        f"The two replays did not run at the same time: cold {a.strftime(clock)} to {b.strftime(clock)}, warm "
        f"{c.strftime(clock)} to {d.strftime(clock)} (UTC). What changed on the machine in between is in the ratios; "
        "the control row, where it has a value, shows how much."
    )


def _span(run: ReplayRun) -> tuple[datetime, datetime] | None:
    try:
        began = datetime.fromisoformat(run.started)
    except ValueError:
        return None
    began = began.replace(tzinfo=UTC) if began.tzinfo is None else began.astimezone(UTC)
    return began, began + timedelta(seconds=run.duration_s)
