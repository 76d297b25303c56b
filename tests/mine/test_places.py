"""The tree refined to characters, against prefixes counted one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from template_logs import RENDERER, completion

from preheat.mine.miner import mine
from preheat.mine.places import places_of
from preheat.mine.prompts import prefix
from preheat.mine.settings import MineSettings


@given(st.lists(st.text("ab你", min_size=4, max_size=16), min_size=1, max_size=30))
def test_every_place_counts_the_prompts_that_begin_with_it(prompts: list[str]) -> None:
    profile = mine([completion(text) for text in prompts], RENDERER, MineSettings(block_chars=4))
    nodes = profile.nodes
    places = places_of(nodes, 4)
    whole = [text[: len(text) // 4 * 4] for text in prompts]
    texts = [prefix(profile, places.owner[place])[: places.depth[place]] for place in range(len(places.up))]
    assert len(set(texts)) == len(texts)
    for place, text in enumerate(texts):
        assert places.count[place] == sum(each.startswith(text) for each in whole)
        longer = {each for each in whole if each.startswith(text)}
        leaves = sum(not any(other != each and other.startswith(each) for other in longer) for each in longer)
        assert places.leaves[place] == leaves
        up = places.up[place]
        assert up < 0 or (text.startswith(texts[up]) and text != texts[up])
    assert sorted(places.order) == list(range(len(places.up)))
    shared = {
        one[:length] for one in whole for two in whole for length in [common(one, two)] if length > 0 and one != two
    }
    assert shared <= set(texts)


def common(left: str, right: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
