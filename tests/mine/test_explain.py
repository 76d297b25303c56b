"""One request against a profile: what was seen, where that ends, and why."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.explain import explain
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.explanation import Explanation
from preheat.records.outcomes import BreakCause
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

RENDERER = renderer_for(Rendering())
CHOOSER = random.Random(7)
WORDS = ["river", "stone", "window", "paper", "garden", "winter", "orange", "table", "letter", "morning"]


def words(count: int) -> str:
    return " ".join(CHOOSER.choice(WORDS) for _ in range(count))


SYSTEM = words(60)


def profile_of(requests: list[Request], **settings: Any) -> Profile:
    return mine(requests, RENDERER, MineSettings(**settings))


def explained(profile: Profile, request: Request, **more: Any) -> Explanation:
    return explain(profile, request, request.prompt, **more)


def stamped(number: int, time_s: float) -> Request:
    prompt = f"Now it is 2026-01-02 10:{number:02}:00. {SYSTEM} Then: {words(30)}"
    return Request(id=f"r{number}", time_s=time_s, prompt=prompt, tenant=f"t{number % 2}")


prompts = st.lists(st.text("ab", max_size=9), min_size=1, max_size=15)


@given(prompts, st.booleans())
def test_found_is_what_a_cache_without_bounds_holds(log: list[str], keep_text: bool) -> None:
    requests = [Request(id=f"{n}", time_s=float(n), prompt=prompt) for n, prompt in enumerate(log)]
    profile = profile_of(requests, block_chars=2, keep_text=keep_text)
    seen: set[str] = set()
    for request in requests:
        prompt = request.prompt or ""
        prefixes = [prompt[:end] for end in range(2, len(prompt) + 1, 2)]
        told = explained(profile, request)
        assert told.blocks == len(prefixes)
        assert told.found_blocks == sum(prefix in seen for prefix in prefixes)
        assert told.found_blocks + told.avoidable_blocks + told.compulsory_blocks == told.blocks
        assert [segment.to_block for segment in told.segments][-1:] == [told.blocks] * bool(prefixes)
        assert told.in_profile
        assert (told.divergence is None) == (told.found_blocks == told.blocks)
        seen.update(prefixes)


def test_a_time_before_shared_text_is_avoidable_and_priced() -> None:
    requests = [stamped(number, 10.0 * number) for number in range(20)]
    told = explained(profile_of(requests), requests[12], ms_per_token=0.5)
    assert told.divergence is not None
    assert told.divergence.cause is BreakCause.TIMESTAMP
    assert told.divergence.here.startswith("2026-01-02 10:12:00.")
    assert told.divergence.nearest.startswith("2026-01-02 10:")
    assert told.found_blocks == 0
    assert told.avoidable_blocks == pytest.approx(len(SYSTEM) // 64, abs=1)
    assert told.missed_ms == pytest.approx(told.blocks * 16 * 0.5)
    assert told.avoidable_ms == pytest.approx(told.avoidable_blocks * 16 * 0.5)


def test_a_question_that_differs_is_compulsory() -> None:
    requests = [Request(id=f"{n}", time_s=float(n), prompt=f"{SYSTEM} {words(40)}", tenant="t") for n in range(9)]
    told = explained(profile_of(requests), requests[5])
    assert told.found_blocks == len(SYSTEM) // 64
    assert told.avoidable_blocks == 0
    assert told.segments[0].requests == 9
    assert told.segments[0].tenants == {"t": 9}
    assert [segment.seen for segment in told.segments] == [True, False]
    assert told.divergence is not None
    assert told.divergence.cause is None
    assert told.divergence.nearest


def test_one_that_comes_later_finds_all_that_the_profile_has() -> None:
    requests = [stamped(number, 10.0 * number) for number in range(20)]
    profile = profile_of(requests)
    told = explained(profile, msgspec.structs.replace(requests[3], time_s=9_999.0))
    assert (told.found_blocks, told.divergence, told.in_profile) == (told.blocks, None, False)
    assert "later than the profile" in told.notes[0]
    early = explained(profile, msgspec.structs.replace(requests[3], time_s=-5.0))
    assert early.found_blocks == 0
    assert "earlier than the profile" in early.notes[0]


def test_another_model_shares_nothing() -> None:
    requests = [stamped(number, 10.0 * number) for number in range(5)]
    told = explained(profile_of(requests), msgspec.structs.replace(requests[3], model="other"))
    assert (told.found_blocks, told.segments) == (0, [])
    assert "no request of this model" in told.notes[0]


def test_without_times_what_others_asked_for_counts() -> None:
    requests = [Request(id=f"{n}", prompt=SYSTEM) for n in range(2)]
    requests.append(Request(id="2", prompt=words(60)))
    profile = profile_of(requests)
    assert explained(profile, requests[0]).found_blocks == len(SYSTEM) // 64
    assert [(each.first_s, each.last_s) for each in explained(profile, requests[0]).segments] == [(None, None)]
    assert explained(profile, requests[2]).found_blocks == 0


def test_without_text_the_blocks_are_found_and_nothing_is_quoted() -> None:
    requests = [Request(id=f"{n}", time_s=float(n), prompt=f"{SYSTEM} {words(40)}") for n in range(9)]
    told = explained(profile_of(requests, keep_text=False), requests[5])
    assert told.found_blocks == len(SYSTEM) // 64
    assert told.divergence is not None
    assert told.divergence.nearest == ""
    assert told.segments[0].ends_with == ""


def test_a_trace_of_ids_is_walked_by_its_ids() -> None:
    requests = [
        Request(id=f"{n}", time_s=float(n), blocks=(1, 2, 10 + n), block_tokens=512, input_tokens=1500)
        for n in range(4)
    ]
    told = explain(profile_of(requests), requests[2], None, 1.0)
    assert (told.blocks, told.found_blocks, told.compulsory_blocks) == (3, 2, 1)
    assert (told.unit, told.block_units, told.missed_ms) == ("tokens", 512, 512.0)
    assert told.divergence is not None
    assert told.divergence.at_chars is None


def test_tenants_are_shown_redacted() -> None:
    requests = [Request(id=f"{n}", time_s=float(n), prompt=SYSTEM, tenant="ann@example.org") for n in range(3)]
    told = explained(profile_of(requests), requests[2])
    assert told.segments[0].tenants == {"[email]": 3}
    assert told.tenant == "[email]"


def test_secrets_are_shown_by_neither_half() -> None:
    def keyed(number: int) -> Request:
        prompt = f"{'x' * 50} Use sk-proj{number:02}abcdefghij1234567890abcdefghij. {SYSTEM} {words(30)}"
        return Request(id=f"{number}", time_s=float(number), prompt=prompt)

    requests = [keyed(number) for number in range(9)]
    told = explained(profile_of(requests), requests[5])
    shown = msgspec.json.encode(told).decode()
    assert told.avoidable_blocks
    assert "abcdefghij" not in shown
    assert "1234567890" not in shown


def test_what_came_at_the_same_moment_is_neither_found_nor_called_new() -> None:
    def asked(number: int, time_s: float) -> Request:
        return Request(id=f"r{number}", time_s=time_s, prompt=SYSTEM)

    log = [asked(0, 5.0), asked(1, 5.0)]
    for requests, first in ((log, log[0]), ([*log, asked(2, 9000.0)], log[1])):
        told = explained(profile_of(requests), first)
        assert told.found_blocks == 0
        assert [segment.same_moment for segment in told.segments] == [True]
        assert any("within a moment" in note for note in told.notes)
    for requests in ([log[0]], [log[0], asked(2, 9000.0)]):
        told = explained(profile_of(requests), log[0])
        assert [segment.same_moment for segment in told.segments] == [False]
        assert not any("within a moment" in note for note in told.notes)
