"""What a log was found to hold: a prefix tree with arrivals, tenants and adapters. Small and mergeable."""

from __future__ import annotations

import re

import msgspec

from preheat.records.outcomes import BreakCause
from preheat.records.rendering import Rendering

SCHEMA = "preheat.profile"
VERSION = "1.1"
BLOCK_CHARS = 64
"""Text without a tokenizer is counted in blocks of 64 characters of the rendered prompt."""
BUCKET_S = 300.0
"""Arrival times are kept as counts per bucket of this length, in seconds of the log's own clock."""
HASH_DIGITS = 12
"""Hexadecimal digits that name a block where its text is not kept."""
_HEX = re.compile("[0-9a-f]+")


class Share(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one tenant asked of one partition. ``arrivals`` by bucket, the ``untimed`` requests left out.

    ``blocks`` counts whole prompt blocks with repeats, ``chars`` the rendered prompts; ``without_prompt`` are requests
    of which the log has arrival and lengths only, ``truncated`` those whose prompt the log itself cut. The times are
    ``None`` where no request has one.
    """

    requests: int
    blocks: int = 0
    chars: int = 0
    without_prompt: int = 0
    truncated: int = 0
    untimed: int = 0
    arrivals: dict[int, int] = {}
    first_s: float | None = None
    last_s: float | None = None


class Partition(msgspec.Struct, frozen=True, omit_defaults=True):
    """Prompts of different models or adapters never share KV: each pair has a tree of its own.

    ``block_tokens`` is set where the log is a trace of block ids without text: a block is then that many tokens (0: the
    trace does not say how many), else :attr:`Profile.block_chars` characters. ``shares`` are by tenant, ``""`` standing
    for none.
    """

    model: str | None
    adapter: str | None
    requests: int
    block_tokens: int | None = None
    shares: dict[str, Share] = {}


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One edge of the compressed prefix tree: ``blocks`` whole blocks that continue the parent's prefix.

    ``parent`` is an index into :attr:`Profile.nodes`, smaller than the node's own, or -1 at the root of
    ``partition``. ``text`` is the edge's text; where it was not kept, ``block_hashes`` has 12 hex digits for each
    block, so that profiles still merge. ``hash`` names the whole prefix; it is empty where text was dropped. ``count``
    requests pass through the *whole* edge, ``ends`` of them have no further whole block; the true count is at most
    ``count + count_error`` (0 unless a memory bound bit). ``arrivals`` maps bucket number (time // bucket_s) to
    requests, the ``untimed`` ones left out. ``tenants`` counts requests by tenant; where there are several (or some
    without a tenant), ``tenant_arrivals`` has each one's own arrivals, so that a tenant can be taken out again.
    ``tokens`` is how many the whole prefix has more than its parent's, by :attr:`Profile.tokenizer`; ``None`` where
    that was not counted.
    """

    parent: int
    partition: int = 0
    hash: str
    blocks: int
    text: str | None = None
    block_hashes: str | None = None
    count: int
    count_error: int = 0
    ends: int = 0
    first_s: float
    last_s: float
    untimed: int = 0
    arrivals: dict[int, int] = {}
    tenants: dict[str, int] = {}
    tenant_arrivals: dict[str, dict[int, int]] = {}
    tokens: int | None = None


class Slot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place of a template where its prompts differ: ``kind`` of what stands there, and how many values were seen."""

    kind: str
    distinct: int
    mean_chars: float


class Cluster(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Prompts of one pattern; warmed by one representative.

    ``size`` is requests, ``share`` of all requests, ``share_blocks`` of all prompt blocks. ``node`` is the deepest node
    that all (or nearly all) of its prompts pass, -1 where they share no block. ``template`` is the pattern with its
    variable places as ``{1}``, ``{2}``..., described by ``slots`` in that order. ``classes`` are labels of
    :class:`preheat.records.outcomes.PromptClass`.
    """

    representative: str | None
    hash: str
    partition: int = 0
    size: int
    share: float
    share_blocks: float = 0.0
    node: int = -1
    classes: tuple[str, ...] = ()
    template: str | None = None
    slots: tuple[Slot, ...] = ()


class Break(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place where prompts part that share text again after it: see :mod:`preheat.mine.breaks`.

    ``node`` is the last one that they share (-1: none), ``at_chars`` where in the prompt the difference begins;
    ``cause`` what differs, ``later`` what else does before the shared text ends. ``variants`` ways to go on were seen,
    in ``requests`` requests of ``tenants``; ``lost_blocks`` would not have been computed again, had the difference
    stood behind them. The texts, of some hundred characters each, are raw: what stands before, two of the
    variants (of long ones beginning and end), and what comes after; they are empty where the profile keeps none.
    """

    node: int
    partition: int = 0
    at_chars: int
    cause: BreakCause
    later: tuple[BreakCause, ...] = ()
    requests: int
    variants: int
    lost_blocks: int
    tenants: dict[str, int] = {}
    before: str = ""
    examples: tuple[str, ...] = ()
    after: str = ""


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What recognises a template without its text: see :mod:`preheat.mine.library`. ``cluster`` is an index.

    ``head`` hashes the first ``head_chars`` characters that its prompts share (xxh3-64 over UTF-8, hexadecimal),
    ``rung`` as many of them as the longest length of the library's ladder has; ``anchors`` are hashes of its sentences.
    """

    cluster: int
    head_chars: int = 0
    head: str = ""
    rung: str = ""
    anchors: tuple[str, ...] = ()


class Hub(msgspec.Struct, frozen=True, kw_only=True):
    """A subword of the token-flow graph: PageRank, and how many distinct subwords precede it."""

    token: str
    rank: float
    in_degree: int


class ClassFlow(msgspec.Struct, frozen=True, kw_only=True):
    """The token flow of one prompt class: ``mean_in_degree`` is the article's "centrality" (4.1).

    ``requests`` is estimated from a sample. The in-degree is that of the flow over ``words`` words of distinct text,
    on which it depends: compare classes of about as many. Text counts by the logarithm of its requests,
    so that no template speaks for a class: ``top`` are the hubs that set it apart from all prompts, ``hubs`` those of
    most rank.
    """

    name: str
    requests: int
    words: int
    subwords: int
    mean_in_degree: float
    top: tuple[Hub, ...]
    hubs: tuple[Hub, ...] = ()


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """How often the hub with one index is followed by that with the other, over all requests."""

    source: int
    target: int
    weight: int


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """The token-flow graph in numbers: subwords, weighted transitions, hubs by PageRank, and each class's own.

    ``covered`` is the share of the prompts' characters that it was made from; ``links`` join ``hubs``.
    ``class_requests`` is what the ``requests`` of classes are out of (a prompt may have several classes).
    """

    subwords: int
    transitions: int
    weight: int
    mean_in_degree: float = 0.0
    covered: float = 1.0
    hubs: tuple[Hub, ...]
    links: tuple[Link, ...] = ()
    classes: tuple[ClassFlow, ...] = ()
    class_requests: int = 0
    class_prompts: int = 0


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
    without_prompt: int = 0
    """Of those, requests of which the log has arrival and lengths only."""
    truncated: int = 0
    """Of those, requests whose prompt the log itself cut: they count as far as they go."""
    blocks: int = 0
    """Whole prompt blocks over all requests (with repeats): the denominator of every share."""
    distinct_blocks: int = 0
    chars: int = 0
    chars_per_token: float | None = None
    """Of the distinct text, by :attr:`tokenizer`; see :mod:`preheat.mine.tokens`."""
    tokenizer: str = ""
    """The file or the engine that counted tokens; empty where nobody did."""
    tenants: dict[str, int] = {}
    partitions: list[Partition] = []
    nodes: list[Node] = []
    arrivals: dict[int, int] = {}
    """Requests by bucket, those without a time left out."""
    clusters: list[Cluster] = []
    cluster_sample: int = 0
    """Distinct prompts, in whole blocks, that were put into clusters or found to be alone."""
    breaks: list[Break] = []
    library: list[Fingerprint] = []
    topology: Topology | None = None
    derived_blocks: int = 0
    """Distinct blocks whose text was at hand when the clusters and all that follows from text were derived."""
    pruned_nodes: int = 0
    count_error: int = 0
    """What any prefix's count can be short of, and the most often that an absent prefix was asked for."""
    skipped: dict[str, int] = {}
    has_text: bool = True

    def fault(self) -> str | None:
        """What contradicts itself in the trees, where something does: a file may have been edited."""
        nodes, partitions, size = self.nodes, len(self.partitions), self.block_chars
        for number, node in enumerate(nodes):
            if not (-1 <= node.parent < number and 0 <= node.partition < partitions):
                return f"node {number} has no place in a tree"
            if node.parent >= 0 and nodes[node.parent].partition != node.partition:
                return f"node {number} is of another partition than its parent"
            if node.text is None:
                if len(node.block_hashes or "") != HASH_DIGITS * node.blocks or not _is_hex(node.block_hashes):
                    return f"node {number} has neither its text nor its blocks' hashes"
            elif len(node.text) != node.blocks * size:
                return f"the text of node {number} is not {node.blocks} blocks long"
        if any(not (-1 <= each.node < len(nodes) and 0 <= each.partition < partitions) for each in self.clusters):
            return "a cluster names a node that is not there"
        return None


def _is_hex(digits: str | None) -> bool:
    return _HEX.fullmatch(digits or "") is not None
