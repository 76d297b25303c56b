"""Baseline of spec 1: semantic clusters, one representative prompt each, the largest cluster first.

The representative is warmed whole, as the article has it: what it shares with the rest of its cluster is what helps.
"""

from __future__ import annotations

from preheat.plan.candidates import Candidate
from preheat.plan.forecast import Expectation, Forecast
from preheat.plan.settings import DAY_S, PlanSettings
from preheat.records.profile import Profile


def propose_clusters(profile: Profile, forecast: Forecast, settings: PlanSettings) -> list[Candidate]:
    """Representatives as a flat forest, cut to whole blocks; a cluster's expected uses follow from its share."""
    span_s = max(profile.end_s - profile.start_s, profile.bucket_s)
    rate = profile.requests / span_s
    found: list[Candidate] = []
    for cluster in profile.clusters[: settings.max_candidates]:
        text = cluster.representative or ""
        blocks = len(text) // profile.block_chars
        if not blocks:
            continue
        window, day = (min(1.0, cluster.share * rate * span) for span in (forecast.window_s, DAY_S))
        found.append(
            Candidate(
                hash=cluster.hash,
                parent=-1,
                partition=cluster.partition,
                blocks=blocks,
                total_blocks=blocks,
                edge=text[: blocks * profile.block_chars],
                expectation=Expectation(cluster.share * rate * forecast.window_s, window, day),
                seen=cluster.size,
                tenants={},
                priority=cluster.share,
            )
        )
    return found
