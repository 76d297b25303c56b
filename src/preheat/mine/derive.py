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
    derived = structs.replace(
        profile,
        clusters=found.clusters,
        cluster_sample=found.prompts,
        library=prints,
        topology=topology(profile, classify, settings) if settings.keep_text else None,  # it holds parts of the text
        breaks=find_breaks(profile),
        derived_blocks=sum([node.blocks for node in profile.nodes if node.text is not None]),
    )
    return retain(derived, settings, found.representatives) if settings.keep_text else without_text(derived)


def without_text(profile: Profile) -> Profile:
    """A derived profile, holding no text of the log any more."""
    bare = structs.replace(profile, topology=None, breaks=without_quotes(profile.breaks))
    return retain(bare, MineSettings(keep_text=False))
