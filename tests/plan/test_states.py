"""What can be resident side by side on an engine that keeps whole prompt states."""

from __future__ import annotations

from forests import Forest, candidate, forests
from hypothesis import given

from preheat.plan.states import antichain


def states_of(forest: Forest) -> tuple[set[int], dict[int, str]]:
    left_out: dict[int, str] = {}
    return antichain(forest.candidates, forest.goals, forest.resident, left_out), left_out


@given(forests())
def test_no_state_extends_another_and_goals_only(forest: Forest) -> None:
    states, left_out = states_of(forest)
    assert states <= forest.goals
    assert left_out.keys() <= forest.goals
    for state in states:
        assert not (forest.path(state) - {state}) & states
        assert state not in left_out


@given(forests())
def test_every_goal_lies_on_the_path_of_a_state_or_was_given_up(forest: Forest) -> None:
    states, left_out = states_of(forest)
    covered = forest.closure(states)
    assert left_out.keys() == forest.goals - covered


@given(forests(all_goals=True))
def test_where_every_prefix_will_do_something_remains_of_every_root(forest: Forest) -> None:
    states, _ = states_of(forest)
    roots = {number for number, found in enumerate(forest.candidates) if found.parent < 0}
    assert roots <= forest.closure(states)


def test_a_tail_that_is_mostly_not_taken_is_given_up() -> None:
    shared = [candidate(-1, 0.9, uses=10.0), candidate(0, 0.3, uses=1.0)]
    states, left_out = states_of(Forest(shared, [100, 150]))
    assert states == {0}
    assert list(left_out) == [1]


def test_a_tail_that_most_of_the_traffic_takes_is_kept() -> None:
    shared = [candidate(-1, 0.9, uses=10.0), candidate(0, 0.9, uses=8.0)]
    assert states_of(Forest(shared, [100, 150])) == ({1}, {})


def test_traffic_that_would_keep_too_little_of_a_state_leaves_it_alone() -> None:
    shared = [candidate(-1, 0.9, uses=10.0), candidate(0, 0.3, uses=1.0)]
    assert states_of(Forest(shared, [100, 500]))[0] == {1}


def test_siblings_stand_side_by_side() -> None:
    both = [candidate(-1, 0.9, uses=10.0), candidate(0, 0.5, uses=5.0), candidate(0, 0.5, uses=5.0)]
    assert states_of(Forest(both, [100, 150, 160]))[0] == {1, 2}


def test_what_is_given_up_becomes_traffic_that_cuts_others() -> None:
    shared = [candidate(-1, 0.9, uses=10.0), *(candidate(0, 0.1 * uses, uses=uses) for uses in (1.0, 2.0, 4.0))]
    states, left_out = states_of(Forest(shared, [100, 150, 150, 150]))
    assert states == {0}
    assert left_out.keys() == {1, 2, 3}
