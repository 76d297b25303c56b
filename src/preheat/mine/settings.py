"""Settings of mining."""

from __future__ import annotations

from dataclasses import dataclass

from preheat.records.profile import BLOCK_CHARS, BUCKET_S


@dataclass(frozen=True)
class MineSettings:
    """How a log becomes a profile."""

    block_chars: int = BLOCK_CHARS
    """Characters of rendered prompt per block where no tokenizer is given."""
    bucket_s: float = BUCKET_S
    """Length, in seconds of the log's clock, of one arrival-time bucket."""
    max_nodes: int = 300_000
    """Bound on tree nodes; past it the prefixes asked for least, and among those the oldest, are dropped."""
    max_chars: int = 100_000_000
    """Bound on unique prompt text held, in characters."""
    max_arrivals: int = 1_000_000
    """Bound on counts of who asked when; past it, arrival times are told by buckets of twice the length."""
    max_tenants: int = 10_000
    """Tenants told apart; further ones are counted together as "(others)"."""
    max_partitions: int = 20_000
    """Pairs of model and adapter told apart, each with a tree of its own; requests of further ones are left out."""
    max_shares: int = 200_000
    """Pairs of tenant and partition told apart; further ones are counted under "(others)"."""
    kept_chars: int = 5_000_000
    """Text that a profile keeps at most, in characters: of the prefixes most asked for, then of the latest."""
    cluster_threshold: float = 0.72
    """Cosine similarity from which two prompts belong to one cluster (spec 4.1); 1: only equal ones do."""
    cluster_sample: int = 2_000
    """Distinct prompts without a head that others share, drawn evenly, that are compared with each other."""
    max_clusters: int = 1_000
    """Clusters kept, largest first."""
    keep_text: bool = True
    """Keep the raw text of prefixes, which warming needs; without it only hashes are kept."""
    topology_chars: int = 3_000_000
    """Characters of distinct prompt text that the token-flow graph is made from: those that most requests hold."""
    topology_subwords: int = 16_000
    """Distinct subwords of the token-flow graph at most; 50 000 is the limit."""
    topology_prompts: int = 5
    """Distinct prompts that must hold a subword before it is shown or exported; 32 is the limit."""
    topology_hubs: int = 40
    """Hubs that are named, and drawn."""
    topology_class_prompts: int = 600
    """Requests' prompts, drawn by hash, whose classes are told for the flow of each class."""
    topology_class_words: int = 50_000
    """Words of distinct text that a class's flow is made from, so that the in-degrees of classes compare."""
