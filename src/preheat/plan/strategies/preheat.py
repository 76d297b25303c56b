"""Ours: every shared prefix that is likely enough to be asked for; the planner takes what pays most first."""

from __future__ import annotations

from preheat.plan.candidates import Candidate, forest
from preheat.plan.forecast import Forecast
from preheat.plan.settings import PlanSettings
from preheat.records.profile import Profile


def propose_preheat(profile: Profile, forecast: Forecast, settings: PlanSettings) -> list[Candidate]:
    """Nodes with text whose chance of use within a day reaches ``min_use_probability``, the most promising first.

    A parent is at least as likely as its children, so the set is closed under parents by itself; it keeps its text
    where they keep theirs.
    """
    floor = settings.min_use_probability
    nodes = profile.nodes
    expected = [forecast.of(node) for node in nodes]
    likely = {n: found for n, found in enumerate(expected) if found.in_day >= floor and nodes[n].text is not None}
    if len(likely) > settings.max_candidates:
        worth = {number: found.in_window * nodes[number].blocks for number, found in likely.items()}
        best = sorted(worth, key=lambda number: -worth[number])[: settings.max_candidates]
        likely = {number: likely[number] for number in best}
    return forest(profile, likely, lambda number: expected[number])
