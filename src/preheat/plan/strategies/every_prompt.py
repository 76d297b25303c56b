"""Baseline of spec 1: enumerate every prompt that the log holds, the most frequent (then the most recent) first."""

from __future__ import annotations

from preheat.plan.candidates import Candidate, forest
from preheat.plan.forecast import Forecast
from preheat.plan.settings import PlanSettings
from preheat.records.profile import Profile


def propose_every_prompt(profile: Profile, forecast: Forecast, settings: PlanSettings) -> list[Candidate]:
    """Every node at which a prompt ends, as far as text was kept, with all that leads to it."""
    ends = [number for number, node in enumerate(profile.nodes) if node.ends and node.text is not None]
    ends.sort(key=lambda number: (profile.nodes[number].ends, profile.nodes[number].last_s), reverse=True)
    ends = ends[: settings.max_candidates]
    goals = {number: float(len(ends) - rank) for rank, number in enumerate(ends)}
    return forest(profile, ends, lambda number: forecast.of(profile.nodes[number]), goals)
