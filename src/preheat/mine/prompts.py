"""The distinct prompts of a profile, and a sample of them that depends on nothing but which prompts there are.

A prompt is a node at which requests end. The sample takes those with the lowest hashes (bottom-k), so that it is
uniform over distinct prompts and the same whatever the order of the log, and however it was cut up and merged again.
"""

from __future__ import annotations

from heapq import nsmallest

import msgspec

from preheat.records.profile import Profile


class SampledPrompt(msgspec.Struct, frozen=True):
    """A distinct prompt as far as the tree holds it, in whole blocks. ``weight`` is the requests that end there."""

    node: int
    partition: int
    text: str
    weight: int


def prefix(profile: Profile, node: int) -> str:
    """The whole text from the root to the end of ``node``; as far as text was kept."""
    parts: list[str] = []
    while node >= 0:
        parts.append(profile.nodes[node].text or "")
        node = profile.nodes[node].parent
    return "".join(reversed(parts))


def sample(profile: Profile, size: int) -> list[SampledPrompt]:
    """Up to ``size`` distinct prompts, by hash; none where the profile kept no text."""
    if not profile.has_text:
        return []
    nodes, partitions = profile.nodes, profile.partitions

    def rank(number: int) -> tuple[str, str, str]:
        node = nodes[number]
        partition = partitions[node.partition] if node.partition < len(partitions) else None
        return node.hash, str(partition and partition.model), str(partition and partition.adapter)

    ends = (number for number, node in enumerate(nodes) if node.ends > 0 and node.text is not None)
    chosen = nsmallest(size, ends, key=rank)
    return [
        SampledPrompt(number, nodes[number].partition, prefix(profile, number), nodes[number].ends) for number in chosen
    ]
