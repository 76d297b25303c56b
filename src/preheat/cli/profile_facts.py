"""What a profile amounts to: for machines as numbers, for people with denominators and in words."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from preheat.files.compressed import REST
from preheat.records.units import show_seconds

if TYPE_CHECKING:
    from preheat.records.profile import Profile
    from preheat.records.request import ReadReport

_NAMED = 10
"""Damaged files that are named."""


def measures(profile: Profile) -> dict[str, Any]:
    """For ``--json``. What cannot be told is ``None``; blocks are counted as ``block_chars`` or a trace's own."""
    from preheat.judge.insight import is_timed, seen_before

    kept = sum(node.blocks for node in profile.nodes if node.text is not None)
    seen = seen_before(profile) if profile.blocks else None
    return {
        "requests": profile.requests,
        "without_prompt": profile.without_prompt,
        "truncated": profile.truncated,
        "timed": is_timed(profile),
        "start_s": profile.start_s if is_timed(profile) else None,
        "end_s": profile.end_s if is_timed(profile) else None,
        "tenants": profile.tenants,
        "partitions": [
            {"model": each.model, "adapter": each.adapter, "requests": each.requests, "block_tokens": each.block_tokens}
            for each in profile.partitions
        ],
        "block_chars": profile.block_chars,
        "bucket_s": profile.bucket_s,
        "arrivals": profile.arrivals,
        "blocks": profile.blocks,
        "distinct_blocks": profile.distinct_blocks,
        "seen_before_blocks": seen,
        "seen_before_share": None if seen is None else seen / profile.blocks,
        "nodes": len(profile.nodes),
        "pruned_nodes": profile.pruned_nodes,
        "count_error": profile.count_error,
        "text_kept_blocks": kept,
        "derived_blocks": profile.derived_blocks,
        "clusters": len(profile.clusters),
        "clustered_share": sum(cluster.share for cluster in profile.clusters),
        "templates": len({each.cluster for each in profile.library}),
        "rendering": profile.rendering.name,
        "tokenizer": profile.tokenizer or None,
        "chars_per_token": profile.chars_per_token,
        "skipped": profile.skipped,
    }


def summary(profile: Profile, uncounted: str = "") -> dict[str, object]:
    """For people, with denominators. ``uncounted``: why the tokenizer that was given could not count."""
    distinct = f"{profile.distinct_blocks}" + (" left after pruning" if profile.pruned_nodes else "")
    return {
        "requests": profile.requests,
        "of those without a prompt": profile.without_prompt,
        "of those cut by the log": profile.truncated,
        "tenants": _tenants(profile),
        "partitions (model, adapter)": len(profile.partitions),
        f"blocks of {_unit(profile)}": profile.blocks,
        "distinct blocks": distinct,
        "seen before": _hits(profile),
        "tree nodes": len(profile.nodes),
        "pruned nodes": profile.pruned_nodes,
        "counts are short by at most": profile.count_error,
        "text kept": _text_kept(profile),
        "clusters": _clusters(profile),
        "templates that are recognised": len({each.cluster for each in profile.library}),
        "rendering": profile.rendering.name,
        "characters per token": _tokens(profile, uncounted),
    } | {f"skipped: {reason}": count for reason, count in sorted(profile.skipped.items())}


def remarks(report: ReadReport) -> dict[str, object]:
    """What reading noted of the log, and which files it could not read to their end."""
    facts: dict[str, object] = {f"noted: {what}": count for what, count in sorted(report.noted.items())}
    broken = ((where, why) for where, why in report.quarantine if why.startswith(REST))
    return facts | {f"left out from {where} on": why for where, why in itertools.islice(broken, _NAMED)}


def _hits(profile: Profile) -> str:
    from preheat.judge.insight import is_timed, seen_before

    if not profile.blocks:
        return "cannot be told: the log has no whole block of any prompt"
    timed = is_timed(profile)
    span = (
        f"over {show_seconds(profile.end_s - profile.start_s)}"
        if timed
        else "in the order of the log, which has no times"
    )
    rate = seen_before(profile) / profile.blocks
    return f"{rate:.1%} of {profile.blocks} blocks, {span}, cold start"


def _tenants(profile: Profile) -> str:
    from preheat.mine.miner import OTHERS

    together = profile.tenants.get(OTHERS)
    named = len(profile.tenants) - (together is not None)
    return f"{named}" + (f", and more in {together} requests that are counted together" if together else "")


def _clusters(profile: Profile) -> str:
    from preheat.mine.settings import MineSettings

    if not profile.clusters:
        return "none: no text to derive them from" if profile.nodes else "none"
    inside = sum(cluster.share for cluster in profile.clusters)
    said = f"{len(profile.clusters)} of {profile.cluster_sample} distinct prompts, {inside:.1%} of requests"
    if len(profile.clusters) == MineSettings().max_clusters:
        said += ", the largest only"
    if profile.derived_blocks < profile.distinct_blocks:
        said += f"; derived from the text of {profile.derived_blocks} of {profile.distinct_blocks} distinct blocks"
    return said


def _unit(profile: Profile) -> str:
    """What a block is."""
    sizes = {partition.block_tokens for partition in profile.partitions}
    named = [f"{size or 'unknown'} tokens" for size in sorted(size for size in sizes if size is not None)]
    if None in sizes or not sizes:
        named.insert(0, f"{profile.block_chars} characters")
    return " or ".join(named)


def _tokens(profile: Profile, uncounted: str) -> str:
    if profile.chars_per_token is None and uncounted:
        return f"not counted: {uncounted}"
    if profile.chars_per_token is None:
        return "not counted: give a tokenizer with --model, or --engine"
    counted = sum(node.tokens is not None for node in profile.nodes)
    return f"{profile.chars_per_token:.2f} by {profile.tokenizer}, {counted} of {len(profile.nodes)} prefixes counted"


def _text_kept(profile: Profile) -> str:
    kept = sum(node.blocks for node in profile.nodes if node.text is not None)
    return f"{kept} of {profile.distinct_blocks} distinct blocks"
