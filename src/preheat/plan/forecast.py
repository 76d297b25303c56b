"""How often, and how surely, a prefix will be asked for after the start.

Ours: the rate of a prefix is estimated at several memory lengths (exponential kernels over its arrival buckets), and
the chance of at least one request is the mean of the Poisson chances at those rates. Mixing rates keeps the chance
of a prefix that came in one burst below that of one which came as often but evenly, as a plain Poisson would not. A
rate seen over a short memory is taken to hold about as long as that memory, so it promises little for a whole day.

Most prompts never come again, and the log itself says how many: each prefix's count is discounted by
``d = n1 / (n1 + 2 n2)``, with n1 and n2 the prefixes seen once and twice (absolute discounting; Ney, Essen and Kneser
1994), so that a prefix seen once keeps ``1 - d`` of its rate and one seen often nearly all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from preheat.plan.settings import DAY_S
from preheat.records.profile import Node, Profile

_MEMORIES_S = ((1_800.0, 0.25), (10_800.0, 0.35), (86_400.0, 0.40))
"""Memory lengths in seconds and their weights in the mixture."""


@dataclass(frozen=True)
class Expectation:
    """Of one prefix: requests expected in the window, chance of at least one in it, and within the first day."""

    uses: float
    in_window: float
    in_day: float


class _Kernel(NamedTuple):
    """A memory length and its weight; the time observed, the window and the day, each as far as the memory reaches."""

    memory_s: float
    weight: float
    observed_s: float
    window_s: float
    day_s: float


class Forecast:
    """Expectations for the nodes of one profile, for a start at ``at_s``.

    Arrivals after ``at_s`` are not looked at; of a bucket that ``at_s`` cuts, the share before it counts.
    """

    def __init__(self, profile: Profile, at_s: float, window_s: float) -> None:
        self.bucket_s = profile.bucket_s
        self.at_s = at_s
        self.window_s = window_s
        self.history_s = at_s - profile.start_s
        self._cut = profile.end_s > at_s
        self._end_bucket = int(profile.end_s // profile.bucket_s)
        self._kernels = self._mixture()
        self._known: dict[int, list[float]] = {}
        once, twice = (sum(round(self._seen(node)) == times for node in profile.nodes) for times in (1, 2))
        self.discount = once / (once + 2 * twice) if once else 0.0

    def _mixture(self) -> list[_Kernel]:
        """Memories no longer than the history there is."""
        kernels = []
        history_s = max(self.history_s, self.bucket_s)
        for memory_s, weight in _MEMORIES_S:
            memory_s = min(memory_s, history_s)
            observed_s, window_s, day_s = (_lasting(span, memory_s) for span in (history_s, self.window_s, DAY_S))
            kernels.append(_Kernel(memory_s, weight, observed_s, window_s, day_s))
        return kernels

    def of(self, node: Node) -> Expectation:
        """The expectation for one node."""
        uses = in_window = in_day = 0.0
        rates = [0.0] * len(self._kernels)
        for bucket, count in self._arrivals(node):
            rates = [rate + count * each for rate, each in zip(rates, self._rates(bucket), strict=True)]
        seen = self._seen(node)
        keep = max(0.0, 1.0 - self.discount / seen) if seen else 0.0
        for rate, (_, weight, _, window_s, day_s) in zip(rates, self._kernels, strict=True):
            uses += weight * keep * rate * window_s
            in_window += weight * -math.expm1(-keep * rate * window_s)
            in_day += weight * -math.expm1(-keep * rate * day_s)
        return Expectation(uses, in_window, in_day)

    def _rates(self, bucket: int) -> list[float]:
        """What one arrival in ``bucket`` adds to the rate at each memory length, per second."""
        known = self._known.get(bucket)
        if known is None:
            past = self._past(bucket)
            age_s = max(0.0, self.at_s - (bucket + 0.5) * self.bucket_s)
            known = [past * math.exp(-age_s / memory_s) / observed_s for memory_s, _, observed_s, _, _ in self._kernels]
            self._known[bucket] = known
        return known

    def _past(self, bucket: int) -> float:
        """The share of a bucket's arrivals that came before the start."""
        return min(1.0, max(0.0, self.at_s / self.bucket_s - bucket)) if self._cut else 1.0

    def _seen(self, node: Node) -> float:
        """Requests that passed through a node before the start."""
        if not self._cut:
            return node.count
        return sum(count * self._past(bucket) for bucket, count in self._arrivals(node))

    def _arrivals(self, node: Node) -> Iterable[tuple[int, int]]:
        """Those without a time count as arrivals at the log's end."""
        if node.untimed:
            return (*node.arrivals.items(), (self._end_bucket, node.untimed))
        return node.arrivals.items()


def _lasting(span_s: float, memory_s: float) -> float:
    """Seconds for which a rate with this memory counts within a span: the span itself, at most about the memory."""
    return memory_s * -math.expm1(-span_s / memory_s)
