"""The protocol of a strategy, and the table of those there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from preheat.plan.candidates import Candidate
from preheat.plan.forecast import Forecast
from preheat.plan.settings import PlanSettings
from preheat.plan.strategies.clusters import propose_clusters
from preheat.plan.strategies.every_prompt import propose_every_prompt
from preheat.plan.strategies.none import propose_none
from preheat.plan.strategies.preheat import propose_preheat
from preheat.records.profile import Profile


class Strategy(NamedTuple):
    """``propose`` names the candidates; ``own_order``: warm its goals by their priority, not by what pays most."""

    propose: Callable[[Profile, Forecast, PlanSettings], list[Candidate]]
    own_order: bool
    about: str


STRATEGIES: dict[str, Strategy] = {
    "preheat": Strategy(propose_preheat, False, "shared prefixes by expected saved prefill per time and byte"),
    "clusters": Strategy(propose_clusters, True, "one representative prompt per semantic cluster (spec 1)"),
    "every-prompt": Strategy(propose_every_prompt, True, "every distinct prompt of the log, commonest first (spec 1)"),
    "none": Strategy(propose_none, True, "nothing: the cache fills on demand (spec 1)"),
}
