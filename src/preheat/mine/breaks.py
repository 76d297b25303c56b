"""Where prefixes break: prompts that share a beginning part over a time, an id, the order of their tools, and share
text again after it, which no prefix cache finds.

A function of a profile's nodes, as far as they have text: of a merged profile, of what its parts have kept. What
continues a node is compared, for a sample of its children; what the break costs is then counted over all of them.
Questions and documents that differ are not breaks: only places of a telling form, and short ones before longer text
that is always the same.
"""

from __future__ import annotations

import re
from collections import Counter

from msgspec import structs
from xxhash import xxh3_64_intdigest

from preheat.mine.difference import KEPT_CHARS, WEAK, Difference
from preheat.mine.resync import ANCHOR_CHARS
from preheat.records.outcomes import BreakCause
from preheat.records.profile import Break, Profile

MOST_BREAKS = 50
_LEAST_SHARE = 0.001
"""Of a profile's distinct blocks: what a break must cost to be named."""
_LEAST_BLOCKS = 4
_LEAST_VARIANTS = 3
_LEAST_VARIANTS_WEAK = 8
"""Of text of no telling form: a few ways to begin are templates of their own."""
_MOST_NODES = 300
_MOST_CHILDREN = 20
_MOST_CHILDREN_AT_ROOT = 1_500
"""Where partitions begin, templates lie side by side."""
_MOST_CHILDREN_IN_ALL = 8_000
_PAIRS = 6
_GROUPS = 4
_GROUPS_AT_ROOT = 12
_PROMISED_BLOCKS = 64
_NESTED = 2
"""How many more variants than children there may be, further down: what is less than that is not looked at."""
_SLACK_CHARS = 600
"""How much longer than in one pair of prompts the variable part may be in another."""
_BEFORE_CHARS = 512
_AFTER_CHARS = 12_000
_NEAR_CHARS = 700
_LEAST_LINE = 24
_NEAR_WORDS = re.compile(rf"(?<!\w)(?=(\w{{6}}.{{{ANCHOR_CHARS - 6}}}))", re.DOTALL)

_Finding = tuple[Break, list[int]]
"""A break, and the nodes below it in which the text behind it is reached."""


def find_breaks(profile: Profile) -> list[Break]:
    """The costliest first. None where the profile kept no text, or is of a trace without any."""
    least = max(_LEAST_BLOCKS, _LEAST_SHARE * profile.distinct_blocks)
    forest = _Forest(profile, least)
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

    def __init__(self, profile: Profile, least: float) -> None:
        self.profile = profile
        self.least = least
        self.block_chars = profile.block_chars
        self.budget = _MOST_CHILDREN_IN_ALL
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
        """What prompts differ in that go on from ``place``: they are told apart by what they share later on."""
        children = sorted(self.children[place], key=lambda child: (-self.below[child], child))
        before = self.before(place[1])
        most = min(self.budget, _MOST_CHILDREN if place[1] >= 0 else _MOST_CHILDREN_AT_ROOT)
        rest = children[most // 2 :]
        chosen = children[: most // 2] + rest[:: max(1, len(rest) * 2 // max(1, most))][: most // 2]
        self.budget -= len(chosen)
        groups: dict[str, list[int]] = {}
        for child in chosen:
            for mark in _marks(self.after(child, _AFTER_CHARS)):
                groups.setdefault(mark, []).append(child)
        found: list[Break] = []
        done: set[int] = set()
        ordered = sorted(groups.items(), key=lambda pair: (-self._promise(pair[1]), pair[0]))
        for _, members in ordered[: _GROUPS if place[1] >= 0 else _GROUPS_AT_ROOT]:
            group = [child for child in members if child not in done]
            if len(group) < _LEAST_VARIANTS:
                continue
            done.update(group)
            compared = group[:: max(1, len(group) // (_PAIRS + 1))][: _PAIRS + 1]
            texts = [before + self.after(child, _AFTER_CHARS) for child in compared]
            finding = self._examined(place, before, texts, len(group) * len(children) / len(chosen))
            if finding is not None:
                found.append(finding[0])
                done.update(self._ancestor(node, place[1]) for node in finding[1])
        return found

    def _ancestor(self, node: int, place: int) -> int:
        """The child of ``place`` that leads to ``node``."""
        while self.profile.nodes[node].parent != place:
            node = self.profile.nodes[node].parent
        return node

    def _promise(self, children: list[int]) -> int:
        """What may be computed over and over below these, however much else lies below each."""
        return sum([min(self.below[child], _PROMISED_BLOCKS) for child in children])

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

    def _examined(self, place: tuple[int, int], before: str, texts: list[str], children: float) -> _Finding | None:
        """What the prompts of one group differ in, where most of their pairs agree on that and it costs enough.

        About ``children`` ways to go on from ``place`` belong to the group.
        """
        pairs = [Difference(texts[0], other, len(before)) for other in texts[1 : _PAIRS + 1]]
        cause, votes = Counter(pair.cause for pair in pairs).most_common(1)[0]
        if cause is None or votes * 2 < len(pairs):
            return None
        agreed = [pair for pair in pairs if pair.cause is cause]
        blocks = sum(pair.shared for pair in agreed) / len(agreed) / self.block_chars
        if _NESTED * children * blocks < self.least:
            return None
        best = max(agreed, key=lambda pair: pair.anchor_at)
        copies = self._copies(place, before, best.anchor, best.anchor_at - len(before) + _SLACK_CHARS)
        if len(copies) < (_LEAST_VARIANTS_WEAK if cause in WEAK else _LEAST_VARIANTS):
            return None
        tenants: Counter[str] = Counter()
        for node in copies:
            tenants.update(self.profile.nodes[node].tenants)
        found = Break(
            node=place[1],
            partition=place[0],
            at_chars=self._depth(place[1]) - len(before) + best.begin,
            cause=cause,
            later=tuple(dict.fromkeys(each for pair in agreed for each in pair.later if each is not cause)),
            requests=sum(self.profile.nodes[node].count for node in copies),
            variants=len(copies),
            lost_blocks=round((len(copies) - 1) * blocks),
            tenants=dict(tenants.most_common()),
            before=texts[0][max(0, best.begin - KEPT_CHARS) : best.begin],
            examples=best.examples,
            after=best.after,
        )
        return found, copies

    def _copies(self, place: tuple[int, int], before: str, anchor: str, within: int) -> list[int]:
        """The nodes below a place in which ``anchor`` is reached, each time that it was computed, ``within`` so many
        characters."""
        found: list[int] = []
        nodes, children, least = self.profile.nodes, self.children, len(anchor) - 1
        stack = [(child, before[-least:], 0) for child in children[place]]
        while stack:
            node, head, depth = stack.pop()
            text = nodes[node].text or ""
            if text.find(anchor, 0, within - depth + 2 * least) >= 0 or anchor in head + text[:least]:
                found.append(node)
                continue
            depth += nodes[node].blocks * self.block_chars
            if depth < within:
                below = children.get((place[0], node))
                if below:
                    stack += [(child, text[-least:], depth) for child in below]
        return found

    def _depth(self, node: int) -> int:
        blocks = 0
        while node >= 0:
            blocks += self.profile.nodes[node].blocks
            node = self.profile.nodes[node].parent
        return blocks * self.block_chars


def _marks(text: str) -> list[str]:
    """Two pieces of a text that others which share most of it are likely to have as well: one at words near its
    beginning, one a whole line. Each is the one with the lowest hash (min-wise hashing, Broder 1997)."""
    marks = []
    near = _NEAR_WORDS.findall(text, 0, _NEAR_CHARS)
    if near:
        marks.append(min(near, key=_hash))
    lines = [line for line in text.split("\n")[1:-1] if len(line) >= _LEAST_LINE]
    if lines:
        marks.append(min(lines, key=_hash))
    return marks


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


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
