"""Which candidates to take, and in which order, under budgets of time and bytes.

Warming a prefix computes all of its path that is not resident yet. Each step takes the path with the highest
expected saving per cost, where cost is the larger share of what is left to use: time as a share of the time budget,
bytes as a share of the byte budget. Stopping after any step leaves the best use of what was spent, as far as greedy
choice goes: along a path the chance of use only falls, so a path's worth per cost never rises while others are taken
(up to the fixed cost of one request), and the lazy queue below is exact in the same measure. Source: ours, after
Horn (1972), "Single-machine job sequencing with treelike precedence ordering".
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from preheat.plan.candidates import Candidate
from preheat.records.outcomes import Retention
from preheat.records.target import CostModel

OVER = "over the budget"
SHORT = "shorter than one cache block"


@dataclass(frozen=True)
class Budget:
    """``None``: no bound. Milliseconds of prefill, bytes of cache."""

    ms: float | None
    bytes: float | None

    def holds(self, ms: float, bytes: float) -> bool:
        return (self.ms is None or ms <= self.ms) and (self.bytes is None or bytes <= self.bytes)


class Step(NamedTuple):
    """One item of the plan: the candidate it ends at, and what it adds. ``leader`` is an earlier step's number."""

    candidate: int
    leader: int | None
    new_tokens: int
    bytes: float
    cost_ms: float
    gain_ms: float


class Selection:
    """Takes candidates one by one; knows what is covered already and what each further path would cost and gain.

    ``resident`` gives, per candidate, the tokens of its whole prefix in whole cache blocks. ``left_out`` says, per
    candidate that was wanted and did not make it, why.
    """

    def __init__(
        self, candidates: list[Candidate], resident: Sequence[int], cost: CostModel, retention: Retention
    ) -> None:
        self.candidates = candidates
        self.resident = resident
        self.cost = cost
        self.retention = retention
        self.covered_by: dict[int, int] = {}
        self._covered_above = [-1] * len(candidates)
        self._children: list[list[int]] = [[] for _ in candidates]
        self._worth = self._whole_worth()
        self.state_ends: set[int] = set()
        self.steps: list[Step] = []
        self.left_out: dict[int, str] = {}
        self.used_ms = 0.0
        self.used_bytes = 0.0

    def price(self, number: int) -> Step:
        """What taking this candidate now would add; ``new_tokens`` 0 means that nothing is left to warm."""
        known = self._covered_above[number]
        held, saved_ms = (self.resident[known], self._worth[known]) if known >= 0 else (0, 0.0)
        leader = self.covered_by.get(known)
        new_tokens = max(0, self.resident[number] - held)
        gain_ms = self._worth[number] - saved_ms
        extends = self.retention is Retention.BLOCKS or known in self.state_ends
        stored = new_tokens if extends else self.resident[number]
        cost_ms = self.cost.prefill_ms(new_tokens)
        return Step(number, leader, new_tokens, stored * self.cost.kv_bytes_per_token, cost_ms, gain_ms)

    def fits(self, step: Step, budget: Budget) -> bool:
        return budget.holds(self.used_ms + step.cost_ms, self.used_bytes + step.bytes)

    def affordable(self, number: int, budget: Budget) -> bool:
        """Whether the whole prefix of this candidate, and nothing else, is within the budget."""
        tokens = self.resident[number]
        return budget.holds(self.cost.prefill_ms(tokens), tokens * self.cost.kv_bytes_per_token)

    def take(self, step: Step) -> None:
        self.state_ends.discard(self._covered_above[step.candidate])
        self.state_ends.add(step.candidate)
        at = step.candidate
        while at >= 0 and at not in self.covered_by:
            self.covered_by[at] = len(self.steps)
            self._cover(at)
            at = self.candidates[at].parent
        self.steps.append(step)
        self.used_ms += step.cost_ms
        self.used_bytes += step.bytes

    def keep_together(self, least_share: float) -> None:
        """Put each step right behind its leader where it shares at least ``least_share`` of the leader's tokens.

        For engines that keep whole states: a sibling that is computed right after its leader leaves a copy of it, one
        that comes later takes the leader's state and cuts it off.
        """
        followers: dict[int, list[int]] = {}
        first: list[int] = []
        for number, step in enumerate(self.steps):
            leader = step.leader
            shared = self.resident[step.candidate] - step.new_tokens
            if leader is not None and shared >= least_share * self.resident[self.steps[leader].candidate]:
                followers.setdefault(leader, []).append(number)
            else:
                first.append(number)
        order: list[int] = []
        waiting = first[::-1]
        while waiting:
            number = waiting.pop()
            order.append(number)
            waiting.extend(reversed(followers.get(number, [])))
        place = {number: at for at, number in enumerate(order)}
        moved = [self.steps[number] for number in order]
        self.steps = [step._replace(leader=None if step.leader is None else place[step.leader]) for step in moved]

    def _cover(self, number: int) -> None:
        """All below, as far as nothing nearer is covered, now extends this candidate."""
        below = [number]
        while below:
            at = below.pop()
            self._covered_above[at] = number
            below.extend(child for child in self._children[at] if child not in self.covered_by)

    def _whole_worth(self) -> list[float]:
        """Expected milliseconds saved by each candidate's whole path; parents stand before their children."""
        worth: list[float] = []
        reach: list[int] = []
        for number, found in enumerate(self.candidates):
            above, saved_ms = (reach[found.parent], worth[found.parent]) if found.parent >= 0 else (0, 0.0)
            tokens = max(0, self.resident[number] - above)
            worth.append(saved_ms + found.expectation.in_window * tokens * self.cost.prefill_ms_per_token)
            reach.append(above + tokens)
            if found.parent >= 0:
                self._children[found.parent].append(number)
        return worth


def density(step: Step, budget: Budget) -> float:
    """Expected milliseconds saved per share of the scarcer budget; per millisecond where neither is bounded."""
    shares = []
    if budget.ms:
        shares.append(step.cost_ms / budget.ms)
    if budget.bytes:
        shares.append(step.bytes / budget.bytes)
    return step.gain_ms / max(max(shares) if shares else step.cost_ms, 1e-12)


def select_by_worth(selection: Selection, goals: Iterable[int], budget: Budget) -> None:
    """Greedy by density, closed under parents, with a lazy queue."""
    queue: list[tuple[float, int]] = []
    for number in goals:
        if selection.resident[number]:
            queue.append((-density(selection.price(number), budget), number))
        else:
            selection.left_out[number] = SHORT
    heapq.heapify(queue)
    while queue:
        _, number = heapq.heappop(queue)
        step = selection.price(number)
        if not step.new_tokens:
            continue
        worth = -density(step, budget)
        if queue and worth > queue[0][0] + 1e-9:
            heapq.heappush(queue, (worth, number))
        elif not selection.fits(step, budget):
            selection.left_out[number] = OVER
        elif step.gain_ms <= 0:
            selection.left_out[number] = "no saving expected"
        else:
            selection.take(step)


def select_in_order(selection: Selection, goals: Iterable[int], budget: Budget) -> None:
    """The strategy's own order, highest priority first, as far as the budgets go."""
    for number in sorted(goals, key=lambda number: (-selection.candidates[number].priority, number)):
        step = selection.price(number)
        if not step.new_tokens:
            selection.left_out[number] = "covered by another item" if selection.resident[number] else SHORT
        elif selection.fits(step, budget):
            selection.take(step)
        else:
            selection.left_out[number] = OVER
