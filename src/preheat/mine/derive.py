"""What follows from a profile's prefix trees, and what of their text is kept.

Everything here is a function of the nodes alone, so it is computed again after a merge.
"""

from __future__ import annotations

from msgspec import structs

from preheat.mine.breaks import find_breaks, without_quotes
from preheat.mine.classes import classify
from preheat.mine.clusters import clustering
from preheat.mine.joining import joined
from preheat.mine.library import library
from preheat.mine.retention import retain
from preheat.mine.settings import MineSettings
from preheat.mine.topology import topology
from preheat.records.profile import Profile


def derive(profile: Profile, settings: MineSettings) -> Profile:
    """``profile`` with clusters, their fingerprints, breaks and topology, and with the text that is worth keeping."""
    found = joined(profile, clustering(profile, settings))
    prints = library(profile, found)
    flow = topology(profile, classify, settings) if settings.keep_text else None  # it holds parts of the text
    broken = find_breaks(profile)
    if not settings.keep_text:
        broken = without_quotes(broken)
    derived = structs.replace(
        profile,
        clusters=found.clusters,
        cluster_sample=found.prompts,
        library=prints,
        topology=flow,
        breaks=broken,
    )
    return retain(derived, settings, found.representatives)
