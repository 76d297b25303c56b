"""Where prefixes break: prompts that share a beginning part over a time, an id, the order of their tools, and share
text again after it, which no prefix cache finds.

A function of a profile's nodes, as far as they have text: of a merged profile, of what its parts have kept. What
continues a node is compared, for a sample of its children; what the break costs is then counted over all of them.
Questions and documents that differ are not breaks: only places of a telling form, and short ones before longer text
that is always the same.
"""

from __future__ import annotations

from collections import Counter

from msgspec import structs

from preheat.mine.difference import SHOWN_CHARS, Difference
from preheat.mine.resync import ANCHOR_CHARS, anchors
from preheat.records.outcomes import BreakCause
from preheat.records.profile import Break, Profile

MOST_BREAKS = 50
_LEAST_SHARE = 0.002
"""Of a profile's distinct blocks: what a break must cost to be named."""
_LEAST_BLOCKS = 4
_LEAST_VARIANTS = 3
_MOST_NODES = 300
_SAMPLE = 12
_SAMPLE_AT_ROOT = 48
"""Where partitions begin, templates lie side by side."""
_PAIRS = 6
_GROUPS = 3
_BEFORE_CHARS = 512
_AFTER_CHARS = 12_000
_NEAR_CHARS = 700
_LEAST_LINE = 24


def find_breaks(profile: Profile) -> list[Break]:
    """The costliest first. None where the profile kept no text, or is of a trace without any."""
    forest = _Forest(profile)
    least = max(_LEAST_BLOCKS, _LEAST_SHARE * profile.distinct_blocks)
    places = sorted(((forest.missed(place), place) for place in forest.children), reverse=True)
    found: list[Break] = []
    for missed, place in places[:_MOST_NODES]:
        if missed < least:
            break
        found += forest.breaks_at(place)
    joined = [each for each in _joined(found, profile) if each.lost_blocks >= least]
    return sorted(joined, key=lambda each: (-each.lost_blocks, each.node, each.at_chars))[:MOST_BREAKS]


def without_quotes(breaks: list[Break]) -> list[Break]:
    """The same, holding no text of the log."""
    return [structs.replace(each, before="", examples=(), after="") for each in breaks]


class _Forest:
    """The profile's nodes by parent. A place is ``(partition, node)``, with node -1 where a partition begins."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.block_chars = profile.block_chars
        self.below = [node.blocks for node in profile.nodes]
        self.children: dict[tuple[int, int], list[int]] = {}
        for number in range(len(profile.nodes) - 1, -1, -1):
            node = profile.nodes[number]
            if node.parent >= 0:
                self.below[node.parent] += self.below[number]
            if node.text is not None:
                self.children.setdefault((node.partition, node.parent), []).append(number)

    def missed(self, place: tuple[int, int]) -> int:
        """Blocks below a place that were computed beside those of its largest branch."""
        children = self.children[place]
        if len(children) < _LEAST_VARIANTS:
            return 0
        return sum([self.below[child] for child in children]) - max([self.below[child] for child in children])

    def breaks_at(self, place: tuple[int, int]) -> list[Break]:
        children = sorted(self.children[place], key=lambda child: (-self.below[child], child))
        before = self.before(place[1])
        size = _SAMPLE if place[1] >= 0 else _SAMPLE_AT_ROOT
        rest = children[size // 2 :]
        sample = children[: size // 2] + rest[:: max(1, len(rest) * 2 // size)][: size // 2]
        texts = {child: before + self.after(child, _AFTER_CHARS) for child in sample}
        pieces = {child: _pieces(text, len(before)) for child, text in texts.items()}
        found: list[Break] = []
        for _ in range(_GROUPS):
            group = _meeting(pieces)
            if len(group) < _LEAST_VARIANTS:
                break
            finding = self._examined(place, before, [texts[child] for child in group])
            if finding is not None:
                found.append(finding)
            for child in group:
                del pieces[child]
        return found

    def before(self, node: int) -> str:
        """The end of the prefix that ends with ``node``."""
        parts: list[str] = []
        missing = _BEFORE_CHARS
        while node >= 0 and missing > 0:
            text = self.profile.nodes[node].text or ""
            parts.append(text)
            missing -= len(text)
            node = self.profile.nodes[node].parent
        return "".join(reversed(parts))[-_BEFORE_CHARS:]

    def after(self, node: int, chars: int) -> str:
        """What ``node`` begins with, and how it goes on most often."""
        parts: list[str] = []
        partition = self.profile.nodes[node].partition
        while chars > 0:
            text = self.profile.nodes[node].text or ""
            parts.append(text)
            chars -= len(text)
            children = self.children.get((partition, node))
            if not children:
                break
            node = max(children, key=self._uses)
        return "".join(parts)

    def _uses(self, node: int) -> int:
        return self.profile.nodes[node].count

    def _examined(self, place: tuple[int, int], before: str, texts: list[str]) -> Break | None:
        """What the prompts of one group differ in, where most of their pairs agree on that."""
        pairs = [Difference(texts[0], other, len(before)) for other in texts[1 : _PAIRS + 1]]
        cause, votes = Counter(pair.cause for pair in pairs).most_common(1)[0]
        if cause is None or votes * 2 < len(pairs):
            return None
        agreed = [pair for pair in pairs if pair.cause is cause]
        blocks = sum(pair.shared for pair in agreed) / len(agreed) / self.block_chars
        best = max(agreed, key=lambda pair: pair.reach)
        copies = self._copies(place, before, best.anchor)
        if len(copies) < _LEAST_VARIANTS:
            return None
        tenants: Counter[str] = Counter()
        for node in copies:
            tenants.update(self.profile.nodes[node].tenants)
        return Break(
            node=place[1],
            partition=place[0],
            at_chars=self._depth(place[1]) - len(before) + best.begin,
            cause=cause,
            later=tuple(dict.fromkeys(each for pair in agreed for each in pair.later if each is not cause)),
            requests=sum(self.profile.nodes[node].count for node in copies),
            variants=len(copies),
            lost_blocks=round((len(copies) - 1) * blocks),
            tenants=dict(tenants.most_common()),
            before=texts[0][max(0, best.begin - SHOWN_CHARS) : best.begin],
            examples=best.examples,
            after=best.after[:SHOWN_CHARS],
        )

    def _copies(self, place: tuple[int, int], before: str, anchor: str) -> list[int]:
        """The nodes below a place in which ``anchor`` is reached: each time that it was computed."""
        found: list[int] = []
        stack = [(child, before[1 - len(anchor) :]) for child in self.children[place]]
        while stack:
            node, head = stack.pop()
            text = head + (self.profile.nodes[node].text or "")
            if anchor in text:
                found.append(node)
                continue
            tail = text[1 - len(anchor) :]
            stack += [(child, tail) for child in self.children.get((place[0], node), ())]
        return found

    def _depth(self, node: int) -> int:
        blocks = 0
        while node >= 0:
            blocks += self.profile.nodes[node].blocks
            node = self.profile.nodes[node].parent
        return blocks * self.block_chars


def _pieces(text: str, begin: int) -> set[str]:
    """What a prompt may share with others after they part: words and what follows them, whole lines."""
    pieces = set(anchors(text, begin, begin + _NEAR_CHARS))
    pieces.update(line for line in text[begin:].split("\n")[1:] if len(line) >= _LEAST_LINE)
    return pieces


def _meeting(pieces: dict[int, set[str]]) -> list[int]:
    """The children that have the commonest piece."""
    counts = Counter(piece for each in pieces.values() for piece in each)
    if not counts:
        return []
    # Of equally common ones always the same, whatever the order of a set.
    commonest = max(counts.items(), key=lambda pair: (pair[1], pair[0]))[0]
    return [child for child, each in pieces.items() if commonest in each]


def _joined(found: list[Break], profile: Profile) -> list[Break]:
    """Without those that lie below another of their kind, which has counted them; those before the same text as one."""
    kept: dict[tuple[object, ...], Break] = {}
    places: set[tuple[int, int, BreakCause]] = set()
    for each in sorted(found, key=lambda each: (each.at_chars, each.node, -each.lost_blocks)):
        node, above = each.node, False
        while node >= 0 and not above:
            node = profile.nodes[node].parent
            above = (each.partition, node, each.cause) in places
        if above:
            continue
        places.add((each.partition, each.node, each.cause))
        key = (each.partition, each.cause, each.after[:ANCHOR_CHARS])
        known = kept.get(key)
        kept[key] = each if known is None else _both(known, each)
    return list(kept.values())


def _both(known: Break, more: Break) -> Break:
    if known.node == more.node:
        return known
    return structs.replace(
        known,
        requests=known.requests + more.requests,
        variants=known.variants + more.variants,
        lost_blocks=known.lost_blocks + more.lost_blocks,
        tenants=dict((Counter(known.tenants) + Counter(more.tenants)).most_common()),
    )
