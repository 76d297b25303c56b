"""How fast a window can be replayed without a queue that would blur what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from preheat.blocks.tree import PrefixTree
from preheat.records.request import Request
from preheat.records.units import show_seconds
from preheat.replay.settings import ReplaySettings


class Load(NamedTuple):
    """One request as the engine will feel it: ``prompt_tokens`` in all, of its rendered ``prompt``."""

    request: Request
    prompt: str
    prompt_tokens: int


class Pace(NamedTuple):
    """``requests``: those to send, of ``window_requests`` that the log holds; ``busy_s``: estimated work of an engine
    with an empty cache."""

    speed: float
    requests: list[Request]
    busy_s: float
    notes: list[str]
    window_requests: int


def cold_work_s(
    loads: Sequence[Load], ms_per_token: float, fixed_ms: float, ms_per_output: float, outputs: int
) -> float:
    """Seconds of work that a replica with an empty, unlimited cache has with these requests, in order."""
    tree = PrefixTree()
    total_ms = 0.0
    for load in loads:
        blocks, hits = tree.insert(load.prompt, 0.0)
        held = hits * tree.block_chars / max(1, len(load.prompt)) if blocks else 0.0
        total_ms += fixed_ms + load.prompt_tokens * (1 - held) * ms_per_token + outputs * ms_per_output
    return total_ms / 1000


def choose_pace(
    loads: Sequence[Load],
    settings: ReplaySettings,
    *,
    ms_per_token: float,
    fixed_ms: float,
    ms_per_output: float,
) -> Pace:
    """The speed, and how much of the window fits into ``max_time_s`` at it.

    Loads are in order of time and have times. The speed holds for the whole window; the shortening cuts its end.
    Requests that all come at one moment have no pace: nothing is gained by changing it.
    """
    notes: list[str] = []

    def work(count: int) -> float:
        return cold_work_s(loads[:count], ms_per_token, fixed_ms, ms_per_output, settings.output_tokens)

    busy_s, span_s = work(len(loads)), _span(loads)
    speed = settings.speed or 1.0
    if settings.speed is None and span_s > 0:
        bearable = settings.busy_target * span_s / max(busy_s, 1e-9)
        speed = bearable if settings.hurry else min(1.0, bearable)
        if bearable < 1.0:
            notes.append(
                f"the replay is slowed to {speed:.3g} x the recorded pace: {show_seconds(busy_s)} of work in "
                f"{show_seconds(span_s)} would keep a cold replica more than {settings.busy_target:.0%} busy"
            )
        elif settings.hurry:
            notes.append(f"the replay runs at {speed:.3g} x the recorded pace")
    count = len(loads)
    if settings.max_time_s is not None and span_s / speed > settings.max_time_s:
        count = sum(_time(load) - _time(loads[0]) <= settings.max_time_s * speed for load in loads)
        notes.append(
            f"only the first {count} of {len(loads)} requests of the window are replayed: at that pace the whole "
            f"window would take {show_seconds(span_s / speed)}, and {show_seconds(settings.max_time_s)} are allowed"
        )
        busy_s = work(count)
    return Pace(speed, [load.request for load in loads[:count]], busy_s, notes, len(loads))


def _time(load: Load) -> float:
    return load.request.time_s or 0.0


def _span(loads: Sequence[Load]) -> float:
    return _time(loads[-1]) - _time(loads[0]) if loads else 0.0
