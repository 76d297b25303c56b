"""Profiles as trees again, by block digests, so that they can be laid over each other whether or not they kept text."""

from __future__ import annotations

from collections.abc import Iterator

from preheat.blocks.digests import DIGEST_BYTES, text_digests
from preheat.blocks.totals import Total
from preheat.blocks.tree import TENANT_BITS, TENANT_MASK, UNTIMED, coarser_uses
from preheat.mine.edges import Edge, NodeMaker, uses_of
from preheat.records.profile import Node, Profile


class Stem:
    """One edge: its blocks' digests, their text where it was kept, and who asked for the whole of it.

    ``error``: see :mod:`preheat.blocks.bounds`. The root of a partition has no blocks and an empty total.
    """

    __slots__ = ("children", "digests", "error", "text", "total")

    def __init__(self, digests: bytes, text: str | None, total: Total, error: int) -> None:
        self.digests = digests
        self.text = text
        self.total = total
        self.error = error
        self.children: dict[bytes, Stem] = {}

    @classmethod
    def root(cls) -> Stem:
        return cls(b"", None, Total(0, {}, float("inf"), float("-inf")), 0)

    @property
    def last_s(self) -> float:
        return self.total.last_s

    @property
    def weight(self) -> int:
        """In blocks."""
        return len(self.digests) // DIGEST_BYTES

    @property
    def ends(self) -> int:
        return self.total.count - sum([child.total.count for child in self.children.values()])

    def drop(self, key: bytes) -> Stem:
        """Take out the leaf under ``key``; its prompts were counted here anyway."""
        return self.children.pop(key)

    def put(self, child: Stem) -> None:
        self.children[child.digests[:DIGEST_BYTES]] = child

    def below(self) -> Iterator[Stem]:
        """All stems below this one, parents first."""
        stack = list(self.children.values())
        while stack:
            stem = stack.pop()
            yield stem
            stack += stem.children.values()


def stems_of(profile: Profile, numbers: dict[str, int], factor: int) -> list[Stem]:
    """The roots of the partitions' trees. ``numbers`` gets the tenants; buckets become ``factor`` times as long."""
    roots = [Stem.root() for _ in profile.partitions]
    stems: list[Stem] = []
    for node in profile.nodes:
        stem = Stem(_digests(node, profile.block_chars), node.text, _total(node, numbers, factor), node.count_error)
        above = roots[node.partition] if node.parent < 0 else stems[node.parent]
        above.put(stem)
        stems.append(stem)
    return roots


def _digests(node: Node, block_chars: int) -> bytes:
    if node.block_hashes is None:
        return text_digests(node.text or "", block_chars)
    return bytes.fromhex(node.block_hashes)


def _total(node: Node, numbers: dict[str, int], factor: int) -> Total:
    uses = uses_of(node, numbers)
    if factor != 1:
        uses = coarser_uses(uses, factor)
    if node.untimed < node.count:
        return Total(node.count, uses, node.first_s, node.last_s)
    return Total(node.count, uses, float("inf"), float("-inf"))


def graft(left: Stem, right: Stem, left_error: int, right_error: int, block_chars: int) -> None:
    """Lay the tree ``right`` over ``left``, which has both afterwards; the errors are those of the two profiles."""
    pairs = [(left, right)]
    while pairs:
        left, right = pairs.pop()
        if right_error:
            for key in left.children.keys() - right.children.keys():
                _doubt(left.children[key], right_error)
        for key, theirs in right.children.items():
            ours = left.children.get(key)
            if ours is None:
                _doubt(theirs, left_error)
                left.children[key] = theirs
                continue
            shared = _shared(ours.digests, theirs.digests)
            ours, theirs = _split(ours, shared, block_chars), _split(theirs, shared, block_chars)
            left.children[key] = ours
            _add(ours.total, theirs.total)
            ours.error += theirs.error
            ours.text = theirs.text if ours.text is None else ours.text
            pairs.append((ours, theirs))


def _doubt(stem: Stem, error: int) -> None:
    if error:
        stem.error += error
        for each in stem.below():
            each.error += error


def _shared(left: bytes, right: bytes) -> int:
    """How many whole digests both begin with."""
    longest = min(len(left), len(right))
    if left[:longest] == right[:longest]:
        return longest // DIGEST_BYTES
    places = range(0, longest, DIGEST_BYTES)
    differ = (place for place in places if left[place : place + DIGEST_BYTES] != right[place : place + DIGEST_BYTES])
    return next(differ) // DIGEST_BYTES


def _split(stem: Stem, blocks: int, block_chars: int) -> Stem:
    """``stem`` itself, or the upper part of it, ``blocks`` long, with the rest below."""
    at = blocks * DIGEST_BYTES
    if at == len(stem.digests):
        return stem
    total = stem.total
    upper = Stem(stem.digests[:at], None, Total(total.count, dict(total.uses), total.first_s, total.last_s), stem.error)
    if stem.text is not None:
        upper.text, stem.text = stem.text[: blocks * block_chars], stem.text[blocks * block_chars :]
    stem.digests = stem.digests[at:]
    upper.put(stem)
    return upper


def _add(total: Total, more: Total) -> None:
    total.count += more.count
    for use, count in more.uses.items():
        total.uses[use] = total.uses.get(use, 0) + count
    total.first_s = min(total.first_s, more.first_s)
    total.last_s = max(total.last_s, more.last_s)


def forget(root: Stem, tenants: set[int], bucket_s: float) -> None:
    """Take the uses of these tenants out, the stems that nobody is left on, and forks that no longer are any."""
    for stem in [root, *root.below()]:
        for key, child in list(stem.children.items()):
            _without(child.total, tenants, bucket_s)
            if not child.total.count:
                del stem.children[key]
    for stem in reversed([root, *root.below()]):
        for key, child in stem.children.items():
            stem.children[key] = _joined(child)


def _without(total: Total, tenants: set[int], bucket_s: float) -> None:
    kept = {use: count for use, count in total.uses.items() if use & TENANT_MASK not in tenants}
    if len(kept) == len(total.uses):
        return
    total.uses, total.count = kept, sum(kept.values())
    buckets = [use >> TENANT_BITS for use in kept if use >> TENANT_BITS != UNTIMED]
    if buckets:
        total.first_s = max(total.first_s, min(buckets) * bucket_s)
        total.last_s = min(total.last_s, (max(buckets) + 1) * bucket_s)
    else:
        total.first_s, total.last_s = float("inf"), float("-inf")


def _joined(stem: Stem) -> Stem:
    """The only child of a stem at which nothing ends continues its edge."""
    while len(stem.children) == 1:
        (child,) = stem.children.values()
        if child.total.count != stem.total.count or (child.text is None) != (stem.text is None):
            break
        child.digests = stem.digests + child.digests
        child.text = None if stem.text is None or child.text is None else stem.text + child.text
        stem = child
    return stem


def edges_of(root: Stem, names: list[str], end_s: float) -> list[Edge]:
    """As :func:`preheat.mine.edges.placed` takes them; ``names`` by tenant number."""
    edges: list[Edge] = []
    maker = NodeMaker(names, end_s)
    stack = [(child, -1) for child in root.children.values()]
    while stack:
        stem, parent = stack.pop()
        number = len(edges)
        edges.append(Edge(parent, stem.digests, maker.node(stem.total, stem.text, stem.weight, stem.error)))
        stack += [(child, number) for child in stem.children.values()]
    return edges
