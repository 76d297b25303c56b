"""Prompt clusters: n-gram TF-IDF, cosine >= threshold, one representative each (spec 4.1 and the baseline of 1)."""

from __future__ import annotations

import numpy as np
import xxhash
from scipy.sparse import csr_array

from preheat.mine.prompts import SampledPrompt
from preheat.mine.vectors import tfidf
from preheat.records.profile import Cluster


def cluster(prompts: list[SampledPrompt], threshold: float) -> list[Cluster]:
    """Leader clustering in one pass, heaviest prompts first; the representative is the member nearest the centroid.

    ``size`` is the cluster's requests in the sample, ``share`` those over all of the sample's requests.
    """
    clusters: list[Cluster] = []
    total = sum(prompt.weight for prompt in prompts)
    for partition in sorted({prompt.partition for prompt in prompts}):
        members = sorted((each for each in prompts if each.partition == partition), key=lambda each: -each.weight)
        vectors = tfidf([prompt.text for prompt in members])
        for group in _groups(vectors, threshold):
            best = members[group[_nearest(vectors, group)]]
            size = sum(members[index].weight for index in group)
            clusters.append(
                Cluster(
                    representative=best.text,
                    hash=xxhash.xxh3_128_hexdigest(best.text.encode("utf-8", "surrogatepass")),
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
