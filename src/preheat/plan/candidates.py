"""The prefixes that a plan chooses from, as a forest: every candidate knows the one it extends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from preheat.plan.forecast import Expectation
from preheat.records.profile import Profile


@dataclass
class Candidate:
    """One prefix, ``blocks`` blocks longer than ``parent`` (an index into the same list, smaller than its own; -1).

    ``goal``: whether the strategy wants this very prefix; the others are only passed on the way. ``tokens`` of the
    whole prefix, where the profile says them.
    """

    hash: str
    parent: int
    partition: int
    blocks: int
    total_blocks: int
    edge: str
    expectation: Expectation
    seen: int
    tenants: dict[str, int]
    goal: bool = True
    priority: float = 0.0
    tokens: int | None = None


def forest(
    profile: Profile,
    keep: Iterable[int],
    expect: Callable[[int], Expectation],
    goals: dict[int, float] | None = None,
) -> list[Candidate]:
    """Candidates for the profile's nodes in ``keep`` and all their ancestors, each with ``expect(node number)``.

    Nodes whose text the profile did not keep are left out: they cannot be warmed. ``goals`` maps node numbers to
    priorities (higher first) where the strategy orders by itself; without it every candidate is a goal.
    """
    wanted: set[int] = set()
    for number in keep:
        at = number if profile.nodes[number].text is not None else -1
        while at >= 0 and at not in wanted:
            wanted.add(at)
            at = profile.nodes[at].parent
    place: dict[int, int] = {}
    found: list[Candidate] = []
    for number in sorted(wanted):
        node = profile.nodes[number]
        parent = place.get(node.parent, -1)
        before = found[parent].tokens if parent >= 0 else 0
        place[number] = len(found)
        found.append(
            Candidate(
                hash=node.hash,
                parent=parent,
                partition=node.partition,
                blocks=node.blocks,
                total_blocks=node.blocks + (found[parent].total_blocks if parent >= 0 else 0),
                edge=node.text or "",
                expectation=expect(number),
                seen=node.count,
                tenants=node.tenants,
                goal=goals is None or number in goals,
                priority=goals.get(number, 0.0) if goals else 0.0,
                tokens=None if node.tokens is None or before is None else before + node.tokens,
            )
        )
    return found


def text_of(candidates: list[Candidate], number: int) -> str:
    """The whole prefix of a candidate."""
    edges = []
    while number >= 0:
        edges.append(candidates[number].edge)
        number = candidates[number].parent
    return "".join(reversed(edges))
