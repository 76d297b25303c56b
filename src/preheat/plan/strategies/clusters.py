"""Baseline of spec 1: semantic clusters, one representative prompt each, the largest cluster first.

The representative is warmed whole, as the article has it: what it shares with the rest of its cluster is what helps.
"""

from __future__ import annotations

from preheat.blocks.digests import prefix_name, text_digests
from preheat.plan.candidates import Candidate, forest
from preheat.plan.forecast import Forecast
from preheat.plan.settings import PlanSettings
from preheat.records.profile import Profile


def propose_clusters(profile: Profile, forecast: Forecast, settings: PlanSettings) -> list[Candidate]:
    """Representatives, cut to whole blocks, with all that leads to them, so that what they share is paid for once.

    A representative is a prompt of the log, so it ends at a node (unless its text was dropped: then it is left out).
    """
    numbers = {
        (node.partition, node.hash): number for number, node in enumerate(profile.nodes) if node.text is not None
    }
    goals: dict[int, float] = {}
    for cluster in profile.clusters[: settings.max_candidates]:
        text = cluster.representative or ""
        whole = text[: len(text) // profile.block_chars * profile.block_chars]
        digests = text_digests(whole, profile.block_chars)
        number = numbers.get((cluster.partition, prefix_name(digests).hexdigest()))
        if number is not None:
            goals[number] = goals.get(number, 0.0) + cluster.share
    return forest(profile, goals, lambda number: forecast.of(profile.nodes[number]), goals)
