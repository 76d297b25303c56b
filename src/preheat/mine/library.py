"""The template library: semantic fingerprints that recognise a prompt's template without comparing texts.

A template is known by its constant head, of which hashes at a ladder of lengths are kept (a prompt is hashed once along
the same ladder), and, where the head has changed or comes late, by its anchors: the sentences and lines that all its
prompts have. No text is kept, so a library may be shown and shared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec
import xxhash

from preheat.mine.clusters import Clustering
from preheat.mine.prompts import prefix
from preheat.records.profile import Cluster, Fingerprint, Profile

_LADDER = tuple(length for step in range(4, 16) for length in (1 << step, 3 << step - 1))
"""Lengths in characters: 16, 24, 32, 48, 64, 96... up to 49152."""
_ANCHORS = 16
_HEADS = 256
"""Heads kept of one template at most: of one into which documents are put that come back, each is a head."""
_PIECE = re.compile(r"[^\s.!?。！？][^\n.!?。！？]{5,}")
_BYTES = 12
_ENOUGH = 0.5
_READ = 2_048


class Recognition(msgspec.Struct, frozen=True):
    """``cluster`` is an index into the profile's clusters; ``certainty`` 1.0 if its whole head stands there, else the
    part of its anchors that was found, weighted by how few templates have them."""

    cluster: int
    certainty: float


def library(profile: Profile, found: Clustering) -> list[Fingerprint]:
    """The fingerprints of a clustering. Without text there are none."""
    prints: list[Fingerprint] = []
    for number, (cluster, heads) in enumerate(zip(found.clusters, found.heads, strict=True)):
        kept = [(node, chars) for node, chars in heads if profile.nodes[node].text is not None]
        texts = sorted({prefix(profile, node)[:chars] for node, chars in kept[:_HEADS]})
        anchors = _anchors(cluster)
        if not texts and anchors:
            prints.append(Fingerprint(cluster=number, anchors=anchors))
        for place, text in enumerate(texts):
            rung = max((rung for rung in _LADDER if rung <= len(text)), default=0)
            if rung:
                prints.append(
                    Fingerprint(
                        cluster=number,
                        head_chars=len(text),
                        head=_hex(text),
                        rung=_hex(text[:rung]),
                        anchors=anchors if place == 0 else (),
                    )
                )
    return prints


def _anchors(cluster: Cluster) -> tuple[str, ...]:
    """Hashes of the sentences and lines that are constant as a whole, evenly spread over the template."""
    if cluster.template is None:
        return ()
    pieces: list[str] = []
    rest = cluster.template
    for number in range(1, len(cluster.slots) + 2):
        constant, _, rest = rest.partition(f"{{{number}}}") if number <= len(cluster.slots) else (rest, "", "")
        if number > 1:  # what follows a variable place belongs to its last sentence
            constant = constant[_cut_begin(constant) :]
        if number <= len(cluster.slots):
            constant = constant[: _cut_end(constant)]
        pieces += [piece for piece in _PIECE.findall(constant) if len(piece.encode("utf-8", "replace")) >= _BYTES]
    distinct = list(dict.fromkeys(pieces))
    step = max(1.0, len(distinct) / _ANCHORS)
    chosen = [distinct[int(place * step)] for place in range(min(len(distinct), _ANCHORS))]
    return tuple(_hex(piece) for piece in chosen)


def _cut_begin(text: str) -> int:
    end = re.search(r"[\n.!?。！？]", text)
    return end.end() if end else len(text)


def _cut_end(text: str) -> int:
    return max((text.rfind(mark) for mark in "\n.!?。！？"), default=-1) + 1


def _hex(text: str) -> str:
    return xxhash.xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))


class Library:
    """The fingerprints of a profile, ready to be asked."""

    def __init__(self, prints: Iterable[Fingerprint]) -> None:
        self._rungs: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._anchored: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        known = list(prints)
        shared = Counter(anchor for each in known for anchor in set(each.anchors))
        for each in known:
            if each.head_chars:
                self._rungs[int(each.rung, 16)].append((each.head_chars, int(each.head, 16), each.cluster))
            total = sum(1 / shared[anchor] for anchor in each.anchors)
            for anchor in each.anchors:
                self._anchored[int(anchor, 16)].append((each.cluster, 1 / shared[anchor] / total))
        lengths = {each.head_chars for each in known}
        longest = max(lengths, default=0)
        self._ladder = [rung for rung in _LADDER if rung <= longest]
        for candidates in self._rungs.values():
            candidates.sort(reverse=True)

    def recognise(self, prompt: str) -> Recognition | None:
        """The template of a rendered prompt, or ``None``: its longest known head, else by its anchors."""
        by_head = self._by_head(prompt)
        return Recognition(by_head, 1.0) if by_head is not None else self._by_anchors(prompt)

    def _by_head(self, prompt: str) -> int | None:
        state, at, best, length = xxhash.xxh3_64(), 0, None, 0
        rungs, size = self._rungs, len(prompt)
        for rung in self._ladder:
            if rung > size:
                break
            state.update(prompt[at:rung].encode("utf-8", "surrogatepass"))
            at = rung
            for chars, head, cluster in rungs.get(state.intdigest(), ()):
                if length < chars <= size and (
                    xxhash.xxh3_64_intdigest(prompt[:chars].encode("utf-8", "surrogatepass")) == head
                ):
                    best, length = cluster, chars
                    break
        return best

    def _by_anchors(self, prompt: str) -> Recognition | None:
        if len(prompt) > 2 * _READ:
            prompt = f"{prompt[:_READ]}\n{prompt[-_READ:]}"
        scores: defaultdict[int, float] = defaultdict(float)
        anchored = self._anchored
        for piece in set(_PIECE.findall(prompt)):
            for cluster, weight in anchored.get(xxhash.xxh3_64_intdigest(piece.encode("utf-8", "surrogatepass")), ()):
                scores[cluster] += weight
        if not scores:
            return None
        best, *others = sorted(scores.items(), key=lambda pair: -pair[1])[:2]
        if best[1] < _ENOUGH or (others and others[0][1] >= best[1]):
            return None
        return Recognition(best[0], min(best[1], 1.0))
