"""Baseline of spec 1: no warm-up at all."""

from __future__ import annotations

from preheat.plan.candidates import Candidate
from preheat.plan.forecast import Forecast
from preheat.plan.settings import PlanSettings
from preheat.records.profile import Profile


def propose_none(profile: Profile, forecast: Forecast, settings: PlanSettings) -> list[Candidate]:
    """No candidates."""
    return []
