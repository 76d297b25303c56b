"""How often, and how surely, a prefix will be asked for after the start.

Ours: the rate of a prefix is estimated at several memory lengths (exponential kernels over its arrival buckets), and
the chance of at least one request is the mean of the Poisson chances at those rates. Mixing rates keeps the chance
of a prefix that came in one burst below that of one which came as often but evenly, as a plain Poisson would not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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


class Forecast:
    """Expectations for the nodes of one profile, for a start at ``at_s``."""

    def __init__(self, profile: Profile, at_s: float, window_s: float) -> None:
        self.bucket_s = profile.bucket_s
        self.at_s = at_s
        self.window_s = window_s
        self.history_s = at_s - profile.start_s
        self._kernels = self._mixture()

    def _mixture(self) -> list[tuple[float, float, float]]:
        """``(memory s, weight, effective observation time s)``: memories no longer than the history there is."""
        kernels = []
        for memory_s, weight in _MEMORIES_S:
            memory_s = min(memory_s, max(self.history_s, self.bucket_s))
            observed_s = memory_s * -math.expm1(-max(self.history_s, self.bucket_s) / memory_s)
            kernels.append((memory_s, weight, observed_s))
        return kernels

    def of(self, node: Node) -> Expectation:
        """The expectation for one node. Arrivals after ``at_s`` are not looked at."""
        uses = in_window = in_day = 0.0
        rates = [0.0] * len(self._kernels)
        for bucket, count in node.arrivals.items():
            age_s = self.at_s - (bucket + 0.5) * self.bucket_s
            if age_s < -0.5 * self.bucket_s:
                continue
            age_s = max(0.0, age_s)
            for index, (memory_s, _, observed_s) in enumerate(self._kernels):
                rates[index] += count * math.exp(-age_s / memory_s) / observed_s
        for rate, (_, weight, _) in zip(rates, self._kernels, strict=True):
            uses += weight * rate * self.window_s
            in_window += weight * -math.expm1(-rate * self.window_s)
            in_day += weight * -math.expm1(-rate * DAY_S)
        return Expectation(uses, in_window, in_day)
