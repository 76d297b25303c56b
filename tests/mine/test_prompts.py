"""The text of a prompt is put together from the edges that lead to its end."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.mine.miner import mine
from preheat.mine.prompts import prefix
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Request


@settings(max_examples=40)
@given(st.lists(st.text("ab", min_size=4, max_size=24), min_size=1, max_size=40))
def test_the_prefixes_at_which_prompts_end_are_the_prompts(prompts: list[str]) -> None:
    requests = [Request(id="r", prompt=text) for text in prompts]
    profile = mine(requests, renderer_for(Rendering()), MineSettings(block_chars=4))
    ends = {prefix(profile, number): node.ends for number, node in enumerate(profile.nodes) if node.ends}
    whole = [text[: len(text) // 4 * 4] for text in prompts]
    assert ends == {text: whole.count(text) for text in whole}
