"""Profiles and forests that the tests of planning share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.plan.candidates import Candidate
from preheat.plan.forecast import Expectation
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

BLOCK = 8
RENDERER = renderer_for(Rendering())


def completion(prompt: str, time_s: float = 0.0, **more: Any) -> Request:
    return Request(id="r", prompt=prompt, time_s=time_s, **more)


def profile_of(requests: list[Request], **settings: Any) -> Profile:
    return mine(requests, RENDERER, MineSettings(block_chars=BLOCK, bucket_s=60.0, **settings))


def words(*names: str) -> str:
    """One block of text per name."""
    return "".join(f"{name:.<{BLOCK}}" for name in names)


def candidate(parent: int, chance: float, *, goal: bool = True, uses: float | None = None) -> Candidate:
    expectation = Expectation(chance if uses is None else uses, chance, chance)
    return Candidate(
        hash="",
        parent=parent,
        partition=0,
        blocks=1,
        total_blocks=1,
        edge="",
        expectation=expectation,
        seen=1,
        tenants={},
        goal=goal,
    )


@dataclass(frozen=True)
class Forest:
    candidates: list[Candidate]
    resident: list[int]

    @property
    def goals(self) -> set[int]:
        return {number for number, found in enumerate(self.candidates) if found.goal}

    def path(self, number: int) -> set[int]:
        found = set()
        while number >= 0:
            found.add(number)
            number = self.candidates[number].parent
        return found

    def closure(self, numbers: set[int]) -> set[int]:
        return {at for number in numbers for at in self.path(number)}

    def edge_tokens(self, number: int) -> int:
        parent = self.candidates[number].parent
        return self.resident[number] - (self.resident[parent] if parent >= 0 else 0)

    def tokens(self, numbers: set[int]) -> int:
        """Tokens of all that these prefixes cover, each once."""
        return sum(map(self.edge_tokens, self.closure(numbers)))

    def worth(self, numbers: set[int]) -> float:
        return sum(
            self.candidates[at].expectation.in_window * self.edge_tokens(at) for at in sorted(self.closure(numbers))
        )


@st.composite
def forests(draw: st.DrawFn, max_nodes: int = 14, all_goals: bool = False) -> Forest:
    """Random forests in which, as in a profile, the chance of use falls and the length grows from parent to child."""
    candidates: list[Candidate] = []
    resident: list[int] = []
    for number in range(draw(st.integers(1, max_nodes))):
        parent = draw(st.integers(-1, number - 1))
        above, length = (candidates[parent].expectation.in_window, resident[parent]) if parent >= 0 else (1.0, 0)
        chance = above * draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
        candidates.append(candidate(parent, chance, goal=all_goals or draw(st.booleans())))
        resident.append(length + draw(st.sampled_from([0, 1, 2, 5, 16, 64])))
    return Forest(candidates, resident)
