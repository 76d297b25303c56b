"""What the charts draw, as ``[x, y]`` pairs: few enough points that a report stays small."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from preheat.judge.metrics.metric import succeeded, ttfts_ms
from preheat.records.outcomes import Outcome
from preheat.records.run import ReplayRun, WarmRun

MOST_POINTS = 400
ROLLING_REQUESTS = 20

Points = list[list[float]]


def chart_series(cold: ReplayRun | None, warm: ReplayRun | None, warm_run: WarmRun | None) -> dict[str, Points]:
    """All series that can be told from what is at hand, by name; empty ones are left out."""
    made: dict[str, Points] = {}
    for side, run in (("cold", cold), ("warm", warm)):
        if run is not None:
            made[f"ttft_ecdf_{side}"] = ecdf(ttfts_ms(run))
            made[f"ttft_over_time_{side}"] = over_time(run)
            made[f"hit_rate_rolling_{side}"] = rolling_hit_rate(run)
    if warm_run is not None:
        made["warmup_tokens"], made["warmup_verified"] = warmup_timeline(warm_run)
    return {name: points for name, points in made.items() if points}


def ecdf(values: Sequence[float]) -> Points:
    """(value, share of values <= it), ascending; thinned evenly, first and last kept."""
    ordered = sorted(values)
    return thin([[round(value, 3), round((rank + 1) / len(ordered), 6)] for rank, value in enumerate(ordered)])


def over_time(run: ReplayRun) -> Points:
    """(seconds from the start of the replay, TTFT in ms) per request; thinned evenly."""
    points = [[round(one.due_s, 3), round(one.ttft_ms, 3)] for one in succeeded(run) if one.ttft_ms is not None]
    return thin(sorted(points))


def rolling_hit_rate(run: ReplayRun) -> Points:
    """(seconds from the start, hit rate over the last :data:`ROLLING_REQUESTS` requests) by the engine's word."""
    recent: deque[tuple[int, int]] = deque(maxlen=ROLLING_REQUESTS)
    points: Points = []
    for one in sorted(succeeded(run), key=lambda request: request.due_s):
        if one.cached_tokens is None or not one.prompt_tokens:
            continue
        recent.append((one.cached_tokens, one.prompt_tokens))
        rate = sum(hit for hit, _ in recent) / sum(total for _, total in recent)
        points.append([round(one.due_s, 3), round(rate, 6)])
    return thin(points)


def warmup_timeline(run: WarmRun) -> tuple[Points, Points]:
    """(seconds of work, tokens computed so far) and (seconds of work, items verified so far), item by item.

    Work is the time spent on the items one after the other; with several at once the clock on the wall runs slower.
    """
    work_ms = tokens = verified = 0.0
    computed: Points = [[0.0, 0.0]]
    confirmed: Points = [[0.0, 0.0]]
    for item in run.items:
        work_ms += item.warm_ms + item.probe_ms
        tokens += item.computed_tokens + item.probe_tokens
        verified += item.status in (Outcome.LOADED, Outcome.ALREADY)
        computed.append([round(work_ms / 1000, 4), tokens])
        confirmed.append([round(work_ms / 1000, 4), verified])
    return (thin(computed), thin(confirmed)) if work_ms else ([], [])


def thin(points: Points, most: int = MOST_POINTS) -> Points:
    """At most ``most`` points, evenly spaced by rank, the first and the last among them."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(index * step)] for index in range(most)]
