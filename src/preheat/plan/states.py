"""What an engine can keep that retains whole prompt states, not blocks (llama.cpp).

Such an engine never holds a prefix beside its own continuation, and serving any prompt that shares the beginning of a
state takes that state and cuts off the rest. (llama.cpp's server: a prompt cached in RAM is removed when it is loaded
into a slot, a cached prompt contained in another is dropped, and a state of which less than a quarter would be kept is
left alone: ``f_keep < 0.25`` in its prompt cache.) So the warm set is an antichain: no item extends another, and a
tail is worth computing only if most of the traffic that shares its beginning goes on into it.
"""

from __future__ import annotations

from collections.abc import Sequence

from preheat.plan.candidates import Candidate

LEFT_ALONE_BELOW = 0.25
"""A state of which a prompt would keep a smaller share than this is not taken for it."""
MOST = 0.5
"""A tail is kept where at least this share of its parent's requests passes through it."""


def to_antichain(candidates: list[Candidate], resident: Sequence[int]) -> None:
    """Leave as goals only what can be resident side by side.

    From the root down, a tail is given up, with all below it, where the traffic of a prefix that it extends would cut
    it off; then a prefix that a remaining goal extends is no goal itself. ``resident``: tokens per candidate's whole
    prefix; parents stand before their children.
    """
    kept = [True] * len(candidates)
    for number, found in enumerate(candidates):
        kept[number] = (found.parent < 0 or kept[found.parent]) and not _cut_off(candidates, resident, number)
    extended = [False] * len(candidates)
    for number in range(len(candidates) - 1, -1, -1):
        found = candidates[number]
        found.goal = found.goal and kept[number] and not extended[number]
        if found.parent >= 0 and (found.goal or extended[number]):
            extended[found.parent] = True


def _cut_off(candidates: list[Candidate], resident: Sequence[int], number: int) -> bool:
    """Whether a prefix of this candidate is long enough to take its state, and mostly asked for without it."""
    at = candidates[number].parent
    while at >= 0 and resident[at] >= LEFT_ALONE_BELOW * resident[number]:
        if candidates[number].seen < MOST * candidates[at].seen:
            return True
        at = candidates[at].parent
    return False
