"""What a log was found to hold: a prefix tree with arrivals, tenants and adapters. Small and mergeable."""

from __future__ import annotations

import msgspec

from preheat.records.rendering import Rendering

SCHEMA = "preheat.profile"
VERSION = "1.0"
BLOCK_CHARS = 64
"""Text without a tokenizer is counted in blocks of 64 characters of the rendered prompt."""
BUCKET_S = 300.0
"""Arrival times are kept as counts per bucket of this length, in seconds of the log's own clock."""


class Partition(msgspec.Struct, frozen=True):
    """Prompts of different models or adapters never share KV: each pair has a tree of its own."""

    model: str | None
    adapter: str | None
    requests: int


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One edge of the compressed prefix tree: ``blocks`` whole blocks that continue the parent's prefix.

    ``parent`` is an index into :attr:`Profile.nodes`, smaller than the node's own, or -1 at the root of
    ``partition``. ``text`` is the edge's text (``None`` under ``--no-text``); ``hash`` chains the parent's hash
    with the edge's blocks. ``count`` requests pass through the *whole* edge, ``ends`` of them have no further
    whole block. ``arrivals`` maps bucket number (time // bucket_s) to requests.
    """

    parent: int
    partition: int = 0
    hash: str
    blocks: int
    text: str | None = None
    count: int
    ends: int = 0
    first_s: float
    last_s: float
    arrivals: dict[int, int] = {}
    tenants: dict[str, int] = {}


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Prompts whose n-gram TF-IDF vectors lie at cosine >= the threshold; warmed by one representative."""

    representative: str | None
    hash: str
    partition: int = 0
    size: int
    share: float


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The mined log. Times are in the log's own clock, seconds; requests without a time count as the log's end."""

    schema: str = SCHEMA
    version: str = VERSION
    rendering: Rendering = Rendering()
    block_chars: int = BLOCK_CHARS
    bucket_s: float = BUCKET_S
    start_s: float = 0.0
    end_s: float = 0.0
    requests: int = 0
    blocks: int = 0
    """Whole prompt blocks over all requests (with repeats): the denominator of every share."""
    distinct_blocks: int = 0
    chars: int = 0
    tenants: dict[str, int] = {}
    partitions: list[Partition] = []
    nodes: list[Node] = []
    clusters: list[Cluster] = []
    cluster_sample: int = 0
    pruned_nodes: int = 0
    skipped: dict[str, int] = {}
    has_text: bool = True
