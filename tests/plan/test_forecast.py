"""How often, and how surely, a prefix will be asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from preheat.plan.forecast import Expectation, Forecast
from preheat.records.profile import Node, Profile

BUCKET_S = 300.0
BUCKETS = 288
END_S = BUCKETS * BUCKET_S
arrivals = st.dictionaries(st.integers(0, BUCKETS - 1), st.integers(1, 20), max_size=8)


def node_of(arrivals: dict[int, int]) -> Node:
    return Node(
        parent=-1, hash="", blocks=1, count=sum(arrivals.values()), first_s=0.0, last_s=END_S, arrivals=arrivals
    )


def profile_of(*nodes: Node, end_s: float = END_S) -> Profile:
    return Profile(bucket_s=BUCKET_S, start_s=0.0, end_s=end_s, nodes=list(nodes))


def expect(arrivals: dict[int, int], at_s: float = END_S, profile: Profile | None = None, **more: Any) -> Expectation:
    return Forecast(profile or profile_of(), at_s, more.get("window_s", 300.0)).of(node_of(arrivals))


def at_least(left: Expectation, right: Expectation) -> bool:
    return (
        left.uses >= right.uses - 1e-12
        and left.in_window >= right.in_window - 1e-12
        and left.in_day >= right.in_day - 1e-12
    )


@given(arrivals, st.sampled_from([1.0, 300.0, 86_400.0]))
def test_chances_are_chances(arrivals: dict[int, int], window_s: float) -> None:
    found = expect(arrivals, window_s=window_s)
    assert 0 <= found.in_window <= found.in_day + 1e-12 <= 1 + 1e-9
    assert found.in_window <= found.uses + 1e-12
    assert (found.uses == 0) == (not arrivals)


@given(arrivals, st.integers(0, BUCKETS - 1), st.integers(1, 5))
def test_more_requests_promise_more(arrivals: dict[int, int], bucket: int, more: int) -> None:
    assert at_least(expect({**arrivals, bucket: arrivals.get(bucket, 0) + more}), expect(arrivals))


@given(arrivals, st.integers(0, BUCKETS - 1), st.integers(0, BUCKETS - 1))
def test_later_requests_promise_more(arrivals: dict[int, int], one: int, two: int) -> None:
    earlier, later = sorted((one, two))
    with_one = {**arrivals, earlier: arrivals.get(earlier, 0) + 3}
    assert at_least(expect({**arrivals, later: arrivals.get(later, 0) + 3}), expect(with_one))


@given(arrivals, st.data())
def test_a_parent_is_as_likely_as_its_child(arrivals: dict[int, int], data: st.DataObject) -> None:
    some = {bucket: data.draw(st.integers(0, count)) for bucket, count in arrivals.items()}
    child = {bucket: count for bucket, count in some.items() if count}
    profile = profile_of(node_of(arrivals), node_of(child), node_of({5: 1}))
    assert at_least(expect(arrivals, profile=profile), expect(child, profile=profile))


def test_a_burst_long_ago_promises_less_than_as_many_spread_evenly() -> None:
    burst = expect({BUCKETS - 200: 40})
    even = expect(dict.fromkeys(range(8, BUCKETS, 7), 1))
    assert sum(dict.fromkeys(range(8, BUCKETS, 7), 1).values()) == 40
    assert burst.uses < 0.5 * even.uses
    assert burst.in_window < 0.5 * even.in_window


def test_a_steady_rate_is_found() -> None:
    found = expect(dict.fromkeys(range(BUCKETS), 6), window_s=300.0)
    assert found.uses == pytest.approx(6, rel=0.15)
    assert found.in_window > 0.99


@given(arrivals, st.integers(1, BUCKETS - 1), st.floats(0, 1))
def test_what_comes_after_the_start_is_not_looked_at(arrivals: dict[int, int], cut: int, within: float) -> None:
    at_s = cut * BUCKET_S
    past = {bucket: count for bucket, count in arrivals.items() if bucket < cut}
    whole, known = node_of(arrivals), node_of(past)
    others = [node_of({0: 1}), node_of({cut - 1: 1, BUCKETS - 1: 1})]
    blind = [node_of({0: 1}), node_of({cut - 1: 1})]
    seen = Forecast(profile_of(whole, *others), at_s, 300.0).of(whole)
    told = Forecast(profile_of(known, *blind, end_s=at_s), at_s, 300.0).of(known)
    assert seen == told


def test_of_the_bucket_that_the_start_cuts_the_share_before_it_counts() -> None:
    node = node_of({10: 8})
    uses = [Forecast(profile_of(node), (10 + cut) * BUCKET_S, 300.0).of(node).uses for cut in (0.0, 0.25, 0.5, 0.999)]
    assert uses[0] == 0
    assert uses == sorted(uses)
    last = Forecast(profile_of(node, end_s=10.25 * BUCKET_S), 10.25 * BUCKET_S, 300.0).of(node)
    assert last.uses > 3.5 * uses[1]


@given(arrivals, st.integers(0, 4), st.integers(0, 4))
def test_where_most_prefixes_never_come_again_one_request_promises_less(
    arrivals: dict[int, int], once: int, twice: int
) -> None:
    assume(arrivals)
    nodes = [node_of({0: 1})] * once + [node_of({0: 2})] * twice
    discounted = expect(arrivals, profile=profile_of(*nodes))
    assert at_least(expect(arrivals), discounted)
    kept = 1 - (once / (once + 2 * twice) if once else 0) / sum(arrivals.values())
    assert discounted.uses == pytest.approx(expect(arrivals).uses * kept)


def test_a_log_of_one_moment() -> None:
    found = Forecast(Profile(bucket_s=BUCKET_S), 0.0, 300.0).of(node_of({0: 1}))
    assert 0 < found.in_window < 1
    assert found.uses == pytest.approx(1, rel=0.6)
