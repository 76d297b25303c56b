"""What an engine can keep that retains whole prompt states, not blocks (llama.cpp).

Such an engine never holds a prefix beside its own continuation, and serving any prompt that shares the beginning of a
state takes that state and cuts off the rest. (llama.cpp's server: a prompt cached in RAM is removed when it is loaded
into a slot, a cached prompt contained in another is dropped, and a state of which less than a quarter would be kept is
left alone: ``f_keep < 0.25`` in its prompt cache.) So the warm set is an antichain: no item extends another, and a
tail is worth computing only if it is likely to be asked for before other traffic with the same beginning takes its
state. Traffic that has a state of its own takes that one: it is the rest that does the damage.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from preheat.plan.candidates import Candidate

LEFT_ALONE_BELOW = 0.25
"""A state of which a prompt would keep a smaller share than this is not taken for it."""
MOST = 0.5
"""A tail is kept where it is at least this likely to be asked for before traffic without a state takes it."""


def antichain(
    candidates: list[Candidate], goals: Set[int], resident: Sequence[int], left_out: dict[int, str]
) -> set[int]:
    """Those of ``goals`` that can be resident side by side; ``left_out`` says why others cannot.

    From the leaves up: at each prefix, the least asked-for states that extend it are given up as long as the traffic
    that has no state there would cut them off first; a prefix becomes a state itself where none is left that extends
    it. ``resident``: tokens per candidate's whole prefix; parents stand before their children.
    """
    below: list[list[int]] = [[] for _ in candidates]
    for number in range(len(candidates) - 1, -1, -1):
        kept = _kept(candidates, below[number], resident, number)
        below[number] = []
        if not kept and number in goals:
            kept = [number]
        parent = candidates[number].parent
        if parent < 0:
            below[number] = kept
        elif below[parent]:
            below[parent].extend(kept)
        else:
            below[parent] = kept
    remaining = {state for states in below for state in states}
    reached = set(remaining)
    for number in range(len(candidates) - 1, -1, -1):
        if number in reached:
            reached.add(candidates[number].parent)
        elif number in goals:
            left_out[number] = "would be cut off: its traffic mostly goes elsewhere"
    return remaining


def _kept(candidates: list[Candidate], states: list[int], resident: Sequence[int], number: int) -> list[int]:
    """The states that survive the traffic of the prefix ``number``, which they all extend."""
    if not states:
        return states
    uses = [candidates[state].expectation.uses for state in states]
    stray = max(0.0, candidates[number].expectation.uses - sum(uses))
    given_up = set()
    for rate, state in sorted(zip(uses, states, strict=True)):
        exposed = resident[number] >= LEFT_ALONE_BELOW * resident[state]
        if exposed and rate < MOST * (rate + stray):
            given_up.add(state)
            stray += rate
    return [state for state in states if state not in given_up] if given_up else states
