"""How fast, and how much of a window."""

from __future__ import annotations

import pytest

from preheat.clock import run_virtual
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Message
from preheat.replay.loads import weigh
from preheat.replay.pace import Load, Pace, choose_pace, cold_work_s
from preheat.replay.settings import ReplaySettings
from preheat.sandbox.inprocess import InProcessEngine
from replay.traffic import chat, load, words


def pace(loads: list[Load], settings: ReplaySettings, ms_per_token: float = 1.0) -> Pace:
    return choose_pace(loads, settings, ms_per_token=ms_per_token, fixed_ms=0.0, ms_per_output=0.0)


AUTO = ReplaySettings(speed=None)
FASTEST = ReplaySettings(speed=None, hurry=True)


def test_an_engine_that_can_bear_it_is_replayed_as_recorded() -> None:
    chosen = pace([load(10.0 * n) for n in range(11)], AUTO)
    assert (chosen.speed, chosen.notes) == (1.0, [])
    assert chosen.busy_s == pytest.approx(1.1)
    assert len(chosen.requests) == chosen.window_requests == 11


def test_a_slow_engine_is_given_time_and_that_is_said() -> None:
    chosen = pace([load(10.0 * n) for n in range(11)], AUTO, ms_per_token=1000.0)  # 1100 s of work in 100 s
    assert chosen.speed == pytest.approx(0.5 * 100 / 1100)
    assert len(chosen.notes) == 1
    assert "slowed to 0.0455 x the recorded pace: 18m20s of work in 1m40s" in chosen.notes[0]
    assert "50% busy" in chosen.notes[0]


def test_fastest_is_what_the_engine_bears() -> None:
    chosen = pace([load(10.0 * n) for n in range(11)], FASTEST)
    assert chosen.speed == pytest.approx(0.5 * 100 / 1.1)
    assert chosen.notes == ["the replay runs at 45.5 x the recorded pace"]


def test_a_given_speed_is_kept_whatever_the_work() -> None:
    chosen = pace([load(10.0 * n) for n in range(11)], ReplaySettings(speed=3.0), ms_per_token=1000.0)
    assert (chosen.speed, chosen.notes) == (3.0, [])


def test_a_window_that_does_not_fit_loses_its_end_and_that_is_said() -> None:
    chosen = pace([load(10.0 * n) for n in range(11)], ReplaySettings(speed=0.5, max_time_s=80.0))
    assert [request.time_s for request in chosen.requests] == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert chosen.window_requests == 11
    assert "only the first 5 of 11 requests" in chosen.notes[0]
    assert "would take 3m20s, and 1m20s are allowed" in chosen.notes[0]
    assert chosen.busy_s == pytest.approx(0.5)


@pytest.mark.parametrize("settings", [AUTO, FASTEST])
@pytest.mark.parametrize("loads", [[], [load(5.0)], [load(5.0, name=str(n)) for n in range(4)]])
def test_requests_of_one_moment_have_no_pace(settings: ReplaySettings, loads: list[Load]) -> None:
    chosen = pace(loads, settings, ms_per_token=1000.0)
    assert (chosen.speed, chosen.notes, len(chosen.requests)) == (1.0, [], len(loads))


def test_work_counts_what_earlier_requests_leave_in_the_cache() -> None:
    same = [Load(chat("a", 0.0), words("same", 6400), 1600) for _ in range(3)]
    assert cold_work_s(same, 1.0, 10.0, 2.0, 5) == pytest.approx((1600 + 3 * 20) / 1000)
    assert cold_work_s([], 1.0, 10.0, 2.0, 5) == 0.0


def test_loads_are_counted_by_the_engine() -> None:
    rendering = renderer_for(Rendering())
    requests = [chat(f"r{n}", 1.0 * n, chars=100 + n) for n in range(500)]
    loads = run_virtual(weigh(requests, rendering, InProcessEngine(), 9.0, {}))
    assert [each.request for each in loads] == requests
    exact = [len(each.prompt) // 4 for each in loads]
    assert all(abs(each.prompt_tokens - tokens) <= 1 for each, tokens in zip(loads, exact, strict=True))


def test_what_the_template_refuses_is_counted_by_reason() -> None:
    refusing = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ messages[0].content }}"
    )
    good = chat("good", 0.0)
    good = type(good)(id="good", time_s=0.0, messages=(Message(role="user", content="Hello"),))
    skipped: dict[str, int] = {}
    renderer = renderer_for(Rendering(name="strict", source="here", template=refusing))
    loads = run_virtual(weigh([chat("bad", 0.0), good], renderer, InProcessEngine(), 4.0, skipped))
    assert [each.request.id for each in loads] == ["good"]
    assert sum(skipped.values()) == 1
    assert "no system" in next(iter(skipped))
