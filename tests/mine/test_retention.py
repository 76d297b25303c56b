"""Text that is dropped leaves its digests, whenever it is dropped."""

from __future__ import annotations

from preheat.mine.derive import without_text
from preheat.mine.merge import merge
from preheat.mine.miner import mine
from preheat.mine.retention import retain
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Request

SYSTEM = "The same words stand before all that is asked of this service. " * 4
BARE = MineSettings(keep_text=False)


def _log(first: int, last: int) -> list[Request]:
    return [
        Request(id=str(n), time_s=float(n), prompt=f"{SYSTEM * (1 + n % 2)}Question {n % 5}: what about it? " * 2)
        for n in range(first, last)
    ]


def _mined(log: list[Request], settings: MineSettings | None = None) -> Profile:
    return mine(log, renderer_for(Rendering()), settings)


def test_text_may_be_dropped_later() -> None:
    log = _log(0, 40)
    assert without_text(_mined(log)) == _mined(log, BARE)


def test_what_a_bound_dropped_merges_as_if_it_were_there() -> None:
    logs = _log(0, 20), _log(20, 40)
    for kept_chars in (0, 64 * 5):
        parts = [_mined(log, MineSettings(kept_chars=kept_chars)) for log in logs]
        dropped = [node for part in parts for node in part.nodes if node.text is None]
        assert dropped
        assert all(len(node.block_hashes or "") == 12 * node.blocks and not node.hash for node in dropped)
        assert merge([retain(part, BARE) for part in parts], BARE).nodes == _mined(logs[0] + logs[1], BARE).nodes


def test_a_representative_is_told_where_its_text_is_kept() -> None:
    whole, part = (_mined(_log(0, 40), MineSettings(kept_chars=chars)) for chars in (10_000, 64 * 5))
    assert whole.clusters
    assert all(cluster.representative for cluster in whole.clusters)
    names = {node.hash for node in part.nodes if node.text is not None}
    assert all((cluster.representative is not None) == (cluster.hash in names) for cluster in part.clusters)


def test_clusters_of_merged_digests_have_names() -> None:
    parts = [_mined(log, BARE) for log in (_log(0, 20), _log(20, 40))]
    merged = merge(parts, BARE)
    assert merged.clusters
    assert all(cluster.hash for cluster in merged.clusters)
    assert {cluster.hash for cluster in merged.clusters} <= {node.hash for node in _mined(_log(0, 40)).nodes}
