"""Profiles → one profile: what mining all their logs at once would have given.

Exactly so while no memory bound bites; past one, every count stays within the ``count_error`` that the result states
(:mod:`preheat.blocks.bounds`). What follows from the nodes (clusters, topology...) is derived anew. Text is kept
wherever one of the profiles kept it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from preheat.blocks.bounds import Bounds, prune
from preheat.errors import BadInput
from preheat.mine.assembly import NOBODY, Key, Part, assembled, key_of
from preheat.mine.collection import no_collection
from preheat.mine.derive import derive
from preheat.mine.settings import MineSettings
from preheat.mine.shares import added, coarser
from preheat.mine.stems import Stem, edges_of, forget, graft, stems_of
from preheat.records.profile import Profile, Share


class Merger:
    """Takes profiles one by one; :meth:`profile` gives what they amount to together."""

    def __init__(self, first: Profile, bucket_s: float, settings: MineSettings | None = None) -> None:
        self.settings = settings or MineSettings()
        self.bucket_s = bucket_s
        self._first = first
        self._numbers: dict[str, int] = {}
        self._roots: dict[Key, Stem] = {}
        self._shares: dict[Key, dict[str, list[Share]]] = {}
        self._skipped: Counter[str] = Counter()
        self._bounds = Bounds(self.settings.max_nodes, self.settings.max_chars // first.block_chars)

    def add(self, profile: Profile) -> None:
        """Lay one more profile over. Raises :class:`BadInput` when it was rendered or cut otherwise."""
        _check(self._first, profile)
        factor = _factor(profile.bucket_s, self.bucket_s)
        bounds = self._bounds
        roots = stems_of(profile, self._numbers, factor)
        for partition, root in zip(profile.partitions, roots, strict=True):
            key = key_of(partition)
            shares = self._shares.setdefault(key, {})
            for name, share in partition.shares.items():
                shares.setdefault(name, []).append(coarser(share, factor))
            ours = self._roots.setdefault(key, Stem.root())
            graft(ours, root, bounds.error, profile.count_error, profile.block_chars)
        bounds.error += profile.count_error
        bounds.pruned += profile.pruned_nodes
        self._skipped.update(profile.skipped)
        held = [stem.weight for root in self._roots.values() for stem in root.below()]
        bounds.nodes, bounds.chars = len(held), sum(held)
        if bounds.exceeded:
            prune(self._roots.values(), bounds)

    def forget(self, names: Iterable[str]) -> None:
        """Take these tenants out of all that was added."""
        gone = set(names)
        for shares in self._shares.values():
            for name in gone & shares.keys():
                del shares[name]
        numbers = {self._numbers[name] for name in gone & self._numbers.keys()}
        for root in self._roots.values():
            forget(root, numbers, self.bucket_s)

    def profile(self, *, derived: bool = True) -> Profile:
        """What was added, as one. ``derived`` false leaves out what follows from its nodes, and drops no text."""
        shares = {key: {name: added(each) for name, each in found.items()} for key, found in self._shares.items()}
        ends = [share.last_s for found in shares.values() for share in found.values() if share.last_s is not None]
        end_s = max(ends, default=0.0)
        names = [NOBODY, *self._numbers]
        parts = [Part(key, found, edges_of(self._roots[key], names, end_s)) for key, found in shares.items() if found]
        merged = assembled(
            parts,
            rendering=self._first.rendering,
            block_chars=self._first.block_chars,
            bucket_s=self.bucket_s,
            bounds=self._bounds,
            skipped=dict(self._skipped),
        )
        return derive(merged, self.settings) if derived else merged


def merge(profiles: Sequence[Profile], settings: MineSettings | None = None, *, derived: bool = True) -> Profile:
    """One profile of all; ``derived`` as in :meth:`Merger.profile`.

    Raises :class:`BadInput` for none, and for profiles that were rendered or cut otherwise.
    """
    if not profiles:
        raise BadInput("there is no profile to merge", "name at least one")
    merger = Merger(profiles[0], max(each.bucket_s for each in profiles), settings)
    with no_collection():
        for profile in profiles:
            merger.add(profile)
        return merger.profile(derived=derived)


def without_tenants(profile: Profile, names: Iterable[str], settings: MineSettings | None = None) -> Profile:
    """What the profile holds without the requests of these tenants, and without text that only they sent.

    Counts are exact. Where a prefix loses its first or last request, those times are known to a bucket only; reasons
    for skipped lines are not kept by tenant and stay. Raises :class:`BadInput` for a tenant that the profile does not
    know, and when nobody else is left.
    """
    gone = set(names)
    unknown = sorted(gone - profile.tenants.keys())
    if unknown:
        raise BadInput(f"the profile knows no tenant {', '.join(map(repr, unknown))}", _who(profile))
    if sum(profile.tenants[name] for name in gone) >= profile.requests:
        raise BadInput("nobody else is in this profile", "delete the file instead")
    merger = Merger(profile, profile.bucket_s, settings)
    merger.add(profile)
    merger.forget(gone)
    return merger.profile()


def _who(profile: Profile) -> str:
    """Whom the profile knows, as far as a line holds it."""
    known = ", ".join(list(profile.tenants)[:5]) or "none"
    more = f" and {len(profile.tenants) - 5} more (mine PROFILE --json lists all)" if len(profile.tenants) > 5 else ""
    return f"it knows {known}{more}; those past the bound on tenants are counted together and cannot be told apart"


def _check(left: Profile, right: Profile) -> None:
    if left.rendering != right.rendering:
        raise BadInput(
            f"the profiles hold prompts rendered by {left.rendering.name} and by {right.rendering.name}",
            "mine both with the same --model",
        )
    if left.block_chars != right.block_chars:
        raise BadInput(
            f"the profiles count in blocks of {left.block_chars} and of {right.block_chars} characters",
            "mine both with the same settings",
        )
    if any(partition.requests and not partition.shares for partition in right.partitions):
        raise BadInput(f"a profile of version {right.version} does not say enough to be merged", "mine its log again")


def _factor(bucket_s: float, longer_s: float) -> int:
    factor = round(longer_s / bucket_s)
    if abs(factor * bucket_s - longer_s) > 1e-6 * longer_s:
        raise BadInput(
            f"the profiles count arrivals by {bucket_s:g} s and by {longer_s:g} s", "mine both with the same settings"
        )
    return factor
