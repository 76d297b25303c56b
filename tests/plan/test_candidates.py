"""The forest that a plan chooses from."""

from __future__ import annotations

from forests import BLOCK, completion, profile_of, words
from hypothesis import given
from hypothesis import strategies as st

from preheat.plan.candidates import forest, text_of
from preheat.plan.forecast import Expectation, Forecast
from preheat.plan.settings import PlanSettings
from preheat.plan.strategies.preheat import propose_preheat
from preheat.records.profile import Profile

PROFILE = profile_of(
    [
        completion(words(*names.split()), float(number))
        for number, names in enumerate(["a b c", "a b d", "a e", "a b c f", "g h", "g", "a b"] * 2)
    ]
)
NOTHING = Expectation(0.0, 0.0, 0.0)
numbers = st.sets(st.sampled_from(range(len(PROFILE.nodes))))


def prefix_of(profile: Profile, number: int) -> str:
    node = profile.nodes[number]
    return (prefix_of(profile, node.parent) if node.parent >= 0 else "") + (node.text or "")


@given(numbers)
def test_a_forest_holds_what_is_kept_and_all_that_leads_to_it(keep: set[int]) -> None:
    expected = set()
    for number in keep:
        while number >= 0:
            expected.add(number)
            number = PROFILE.nodes[number].parent
    found = forest(PROFILE, keep, lambda number: Expectation(float(number), 0.0, 0.0))
    assert [int(each.expectation.uses) for each in found] == sorted(expected)
    for place, each in enumerate(found):
        number = int(each.expectation.uses)
        assert each.parent < place
        assert text_of(found, place) == prefix_of(PROFILE, number)
        assert each.total_blocks * BLOCK == len(prefix_of(PROFILE, number))
        assert (each.hash, each.seen) == (PROFILE.nodes[number].hash, PROFILE.nodes[number].count)
        assert each.goal


@given(numbers, st.data())
def test_goals_are_what_the_strategy_names(keep: set[int], data: st.DataObject) -> None:
    goals = {number: float(number) for number in keep if data.draw(st.booleans())}
    found = forest(PROFILE, keep, lambda _: NOTHING, goals)
    assert {each.hash for each in found if each.goal} == {PROFILE.nodes[number].hash for number in goals}
    assert sorted(each.priority for each in found if each.goal) == sorted(goals.values())


def test_ours_takes_what_is_likely_enough_closed_under_parents() -> None:
    forecast = Forecast(PROFILE, PROFILE.end_s, 300.0)
    chances = [forecast.of(node).in_day for node in PROFILE.nodes]
    floor = sorted(chances)[len(chances) // 2]
    found = propose_preheat(PROFILE, forecast, PlanSettings(min_use_probability=floor))
    likely = {node.hash for node, chance in zip(PROFILE.nodes, chances, strict=True) if chance >= floor}
    assert {each.hash for each in found} == likely
    assert all(each.goal for each in found)
    few = propose_preheat(PROFILE, forecast, PlanSettings(min_use_probability=0.0, max_candidates=1))
    best = max(PROFILE.nodes, key=lambda node: forecast.of(node).in_window * node.blocks)
    assert best.hash in {each.hash for each in few}
    assert len(few) <= 2
