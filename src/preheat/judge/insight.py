"""Profile → what the log holds, fit to be shown: short, redacted, and without anything that few prompts hold."""

from __future__ import annotations

from preheat.judge.breaking import break_lines
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
    """Topology and arrivals as they are; of the clusters the largest and of the breaks the costliest, redacted."""
    timed = is_timed(profile)
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
        start_s=profile.start_s if timed else None,
        end_s=profile.end_s if timed else None,
        blocks=profile.blocks,
        seen_blocks=seen_before(profile),
        distinct_blocks=profile.distinct_blocks,
        skipped={excerpt(reason): count for reason, count in sorted(profile.skipped.items())},
        breaks=break_lines(profile) if profile.has_text else None,
        break_count=len(profile.breaks),
    )


def is_timed(profile: Profile) -> bool:
    """Whether any request had a time."""
    return any(share.first_s is not None for each in profile.partitions for share in each.shares.values())


def seen_before(profile: Profile) -> int:
    """Blocks that a cache without bounds, cold at first, would have held when they were asked for."""
    return sum(node.blocks * (node.count - 1) for node in profile.nodes)


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
