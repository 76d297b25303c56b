"""What every metric declares: tag, unit, formula with its source, denominator, and what it is computed from.

A metric never guesses: where the runs do not say, its reading holds ``None`` and the reason (ABSTAIN).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from preheat.judge.pairs import got_token
from preheat.records.evidence import Metric as Measured
from preheat.records.plan import Plan
from preheat.records.run import ReplayRun, RequestRun, WarmRun
from preheat.records.units import show_seconds


@dataclass(frozen=True)
class Subject:
    """What is being judged. A replay metric reads ``run``, a warm-up metric ``warm_run`` and ``plan``.

    ``baseline`` is the warm baseline of spec 2.5: the same requests in steady state. ``replayed`` are all the
    replays at hand, for metrics that ask what the traffic made of the warm set.
    """

    run: ReplayRun | None = None
    baseline: ReplayRun | None = None
    warm_run: WarmRun | None = None
    plan: Plan | None = None
    replayed: tuple[ReplayRun, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A value with the denominator it was really divided by, or ``None`` and ``why``; ``note`` is a caveat."""

    value: float | None
    denominator: str = ""
    window: str = ""
    why: str = ""
    note: str = ""


class Metric(Protocol):
    """One metric. ``depends`` names the tags that must have been read before; their readings are handed in."""

    @property
    def tag(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def formula(self) -> str: ...
    @property
    def denominator(self) -> str: ...
    @property
    def depends(self) -> tuple[str, ...]: ...
    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading: ...


def abstain(why: str) -> Reading:
    """The reading of a metric that cannot be told. Absent is not zero."""
    return Reading(None, why=why)


def succeeded(run: ReplayRun) -> list[RequestRun]:
    """The requests that got a first token: no error, and a time to it."""
    return [request for request in run.requests if got_token(request)]


def ttfts_ms(run: ReplayRun) -> list[float]:
    """Times to first token of the requests that succeeded, in the order replayed."""
    return [request.ttft_ms for request in succeeded(run) if request.ttft_ms is not None]


def window_of(run: ReplayRun) -> str:
    """What was really replayed, in words: from which to which second of the log, how many requests, how fast."""
    speed = "" if run.speed == 1 else f", replayed at {run.speed:.3g}x"
    held = f"{show_seconds(run.last_s - run.from_s)} of a window of {show_seconds(run.window_s)}"
    span = f"log seconds {run.from_s:.0f} to {run.last_s:.0f} ({held})"
    return f"{span}, {run.sent} requests of the window were sent{speed}"


def over_ttfts(subject: Subject, statistic: Callable[[list[float]], float], at_least: int = 1) -> Reading:
    """``statistic`` of the times to first token of ``subject.run``; ABSTAIN under ``at_least`` of them."""
    if subject.run is None:
        return abstain("no replay")
    values = ttfts_ms(subject.run)
    if len(values) < at_least:
        return abstain(f"{len(values)} of {len(subject.run.requests)} requests got a first token, {at_least} needed")
    counted = f"{len(values)} of {len(subject.run.requests)} requests that got a first token"
    return Reading(statistic(values), counted, window_of(subject.run))


def read_all(metrics: Iterable[Metric], subject: Subject) -> list[Measured]:
    """Read ``metrics`` in dependency order, return them in the order given. A cycle raises :class:`ValueError`."""
    table = {metric.tag: metric for metric in metrics}
    known: dict[str, Reading] = {}

    def read(tag: str, above: tuple[str, ...]) -> None:
        if tag in above:
            raise ValueError(f"metrics depend on each other: {' -> '.join((*above, tag))}")
        if tag not in known:
            for needed in table[tag].depends:
                read(needed, (*above, tag))
            known[tag] = table[tag].read(subject, known)

    for tag in table:
        read(tag, ())
    return [_measured(metric, known[tag]) for tag, metric in table.items()]


def _measured(metric: Metric, reading: Reading) -> Measured:
    return Measured(
        name=metric.tag,
        title=metric.title,
        unit=metric.unit,
        value=reading.value,
        denominator=reading.denominator or metric.denominator,
        window=reading.window,
        formula=metric.formula,
        why=reading.why,
        note=reading.note,
    )
