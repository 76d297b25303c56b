"""The sample of distinct prompts: uniform by hash, whatever the order of the log."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.miner import mine
from preheat.mine.prompts import prefix, sample
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

RENDERER = renderer_for(Rendering())


def profile_of(prompts: list[str], keep_text: bool = True, models: int = 1) -> Profile:
    settings = MineSettings(block_chars=4, keep_text=keep_text)
    requests = [Request(id="r", prompt=text, model=str(number % models)) for number, text in enumerate(prompts)]
    return mine(requests, RENDERER, settings)


@given(st.lists(st.text("ab", min_size=4, max_size=24), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_sample_does_not_depend_on_the_order_of_the_log(prompts: list[str], order: random.Random) -> None:
    shuffled = list(prompts)
    order.shuffle(shuffled)
    for size in (1, 3, 100):
        one, other = (
            [(each.text, each.weight) for each in sample(profile_of(each), size)] for each in (prompts, shuffled)
        )
        assert one == other
        assert len(one) == min(size, len({text[: len(text) // 4 * 4] for text in prompts}))


def test_a_larger_sample_holds_the_smaller() -> None:
    profile = profile_of([f"{number:08d}" for number in range(50)] * 2)
    large = sample(profile, 40)
    assert large[:7] == sample(profile, 7)
    assert {each.weight for each in large} == {2}
    assert all(prefix(profile, each.node) == each.text for each in large)


def test_prompts_that_end_inside_others_count_apart() -> None:
    profile = profile_of(["aaaa", "aaaabbbb", "aaaabbbbc", "ddd"])
    assert {each.text: each.weight for each in sample(profile, 10)} == {"aaaa": 1, "aaaabbbb": 2}


def test_partitions_count_apart_and_without_text_there_is_no_sample() -> None:
    assert sorted(each.partition for each in sample(profile_of(["same"] * 4, models=2), 10)) == [0, 1]
    assert sample(profile_of(["text"], keep_text=False), 10) == []
