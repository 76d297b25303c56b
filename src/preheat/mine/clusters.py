"""Prompt clusters: n-gram TF-IDF, cosine >= threshold, one representative each (spec 4.1 and the baseline of 1)."""

from __future__ import annotations

import random

import numpy as np
import xxhash
from scipy.sparse import csr_array

from preheat.mine.vectors import tfidf
from preheat.records.profile import Cluster


class Reservoir:
    """A uniform sample of the distinct prompts of a stream (Vitter's algorithm R), seeded: same log, same sample.

    Repeats of a sampled prompt add to its weight; ``seen`` counts distinct prompts by hash.
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self.size = size
        self.weights: dict[int, int] = {}
        self.slots: list[tuple[int, int, str]] = []
        self._seen: set[int] = set()
        self._random = random.Random(seed)

    def add(self, prompt: str, partition: int) -> None:
        key = xxhash.xxh3_64_intdigest(prompt.encode("utf-8", "surrogatepass"), seed=partition)
        if key in self._seen:
            if key in self.weights:
                self.weights[key] += 1
            return
        self._seen.add(key)
        if len(self.slots) < self.size:
            self.slots.append((key, partition, prompt))
        else:
            place = self._random.randrange(len(self._seen))
            if place >= self.size:
                return
            del self.weights[self.slots[place][0]]
            self.slots[place] = (key, partition, prompt)
        self.weights[key] = 1


def cluster(sample: Reservoir, threshold: float, keep_text: bool) -> list[Cluster]:
    """Leader clustering in one pass, heaviest prompts first; the representative is the member nearest the centroid.

    ``size`` is the cluster's requests in the sample, ``share`` those over all of the sample's requests.
    """
    if not sample.slots:
        return []
    order = sorted(sample.slots, key=lambda slot: (-sample.weights[slot[0]], slot[0]))
    clusters: list[Cluster] = []
    total = sum(sample.weights.values())
    for partition in sorted({slot[1] for slot in order}):
        members = [slot for slot in order if slot[1] == partition]
        vectors = tfidf([prompt for _, _, prompt in members])
        for group in _groups(vectors, threshold):
            best = group[_nearest(vectors, group)]
            size = sum(sample.weights[members[index][0]] for index in group)
            prompt = members[best][2]
            clusters.append(
                Cluster(
                    representative=prompt if keep_text else None,
                    hash=xxhash.xxh3_128_hexdigest(prompt.encode("utf-8", "surrogatepass")),
                    partition=partition,
                    size=size,
                    share=size / total,
                )
            )
    return sorted(clusters, key=lambda found: (-found.size, found.hash))


def _groups(vectors: csr_array[np.float32], threshold: float) -> list[list[int]]:
    """Each row joins the nearest leader so far, if that lies at cosine >= threshold, else leads a group itself."""
    groups: list[list[int]] = []
    leaders: list[int] = []
    step = 256
    for start in range(0, vectors.shape[0], step):
        block = vectors[start : start + step]
        known = (block @ vectors[leaders].T).toarray() if leaders else np.zeros((block.shape[0], 0))
        inside = (block @ block.T).toarray()
        fresh: list[int] = []
        for row in range(block.shape[0]):
            scores = np.concatenate([known[row], inside[row, fresh]])
            best = int(scores.argmax()) if scores.size else -1
            if best >= 0 and scores[best] >= threshold:
                groups[best].append(start + row)
            else:
                groups.append([start + row])
                fresh.append(row)
        leaders.extend(start + row for row in fresh)
    return groups


def _nearest(vectors: csr_array[np.float32], group: list[int]) -> int:
    """The place in ``group`` of the row nearest its centroid."""
    if len(group) <= 2:
        return 0
    rows = vectors[group]
    return int((rows @ rows.sum(axis=0)).argmax())
