"""Profile → what the log holds, fit to be shown: short, redacted, and without anything that few prompts hold."""

from __future__ import annotations

from preheat.judge.shown import excerpt
from preheat.records.evidence import ClusterLine, LogInsight
from preheat.records.profile import Cluster, Profile

MOST_CLUSTERS = 12
EXCERPT_CHARS = 220
_HOUR_S = 3600
_HOURS = 24
_EPOCH_FROM_S = 1e8
"""A clock that says more than this counts from 1970: three years is longer than any log's own clock."""


def insight(profile: Profile) -> LogInsight:
    """Topology and arrivals as they are; of the clusters the largest, redacted."""
    return LogInsight(
        requests=profile.requests,
        tenants=len(profile.tenants),
        span_s=max(0.0, profile.end_s - profile.start_s),
        topology=profile.topology,
        clusters=[_line(cluster) for cluster in profile.clusters[:MOST_CLUSTERS]],
        cluster_count=len(profile.clusters),
        cluster_sample=profile.cluster_sample,
        hours=_hours(profile),
        epoch=profile.end_s > _EPOCH_FROM_S,
    )


def _line(cluster: Cluster) -> ClusterLine:
    text = cluster.template or cluster.representative or ""
    return ClusterLine(
        size=cluster.size, share=cluster.share, classes=cluster.classes, excerpt=excerpt(text, EXCERPT_CHARS)
    )


def _hours(profile: Profile) -> list[int]:
    """Requests by hour of the day, as far as they had a time; empty where none had, or is told by longer buckets."""
    arrivals = profile.arrivals
    if not arrivals:
        arrivals = {}
        for node in profile.nodes:
            if node.parent < 0:
                for bucket, count in node.arrivals.items():
                    arrivals[bucket] = arrivals.get(bucket, 0) + count
    if profile.end_s <= profile.start_s or not arrivals or profile.bucket_s > _HOUR_S:
        return []
    hours = [0] * _HOURS
    for bucket, count in arrivals.items():
        hours[int(bucket * profile.bucket_s // _HOUR_S) % _HOURS] += count
    return hours
