"""Requests in, one profile out. Streaming: memory grows with what is distinct, not with the log, and is bounded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from preheat.blocks.bounds import Bounds, prune
from preheat.blocks.digests import ID_CHARS, id_digests, ids_as_text, text_digests
from preheat.blocks.totals import totals
from preheat.blocks.tree import NO_TENANT, PrefixTree
from preheat.errors import BadInput
from preheat.mine.assembly import NOBODY, Key, Part, assembled
from preheat.mine.collection import no_collection
from preheat.mine.edges import Edge, NodeMaker
from preheat.mine.settings import MineSettings
from preheat.mine.shares import Tally
from preheat.prompts.render import PromptNotRenderable, Renderer
from preheat.records.profile import Profile, Share
from preheat.records.request import ReadReport, Request

_Asking = tuple[PrefixTree, Tally, int]
_KNOWN = 50_000
_ROOM = 0.75
_DAY_S = 86_400.0
OTHERS = "(others)"
"""Whoever came after the bound on tenants was reached."""


class NothingToLearn(BadInput):
    """No request could be used; ``skipped`` counts, by reason, those that there were."""

    def __init__(self, skipped: Counter[str]) -> None:
        super().__init__("there is nothing to learn from: no request could be used", _why(skipped))
        self.skipped = skipped


class Miner:
    """Collects requests one by one; :meth:`profile` gives what they amount to."""

    def __init__(self, renderer: Renderer, settings: MineSettings | None = None) -> None:
        self.settings = settings or MineSettings()
        self.renderer = renderer
        self.bounds = Bounds(self.settings.max_nodes, self.settings.max_chars, self.settings.max_arrivals)
        self._bucket_s = self.settings.bucket_s
        self._trees: dict[Key, PrefixTree] = {}
        self._tallies: dict[tuple[Key, int], Tally] = {}
        self._tenants: dict[str, int] = {}
        self._asking: dict[tuple[str | None, str | None, str | None], _Asking] = {}
        self._render = renderer.render
        self._skipped: Counter[str] = Counter()

    def add(self, request: Request) -> None:
        """Count one request in. One whose template refuses it is counted as skipped, with the reason."""
        lengths_only = False
        if request.messages or request.prompt is not None:
            try:
                prompt = self._render(request)
            except PromptNotRenderable as refusal:
                where = f"{request.source or request.id}: "  # of this one request: what is counted is the reason
                self._skipped[f"not renderable: {refusal.message.removeprefix(where)}"] += 1
                return
            asking = request.model, request.adapter, request.tenant
            found = self._asking.get(asking) or self._first(request, None)
            chars = len(prompt)
        else:
            prompt, chars, lengths_only = ids_as_text(request.blocks or ()), 0, request.blocks is None
            found = self._first(request, None if lengths_only else request.block_tokens or 0)
        if found is None:
            self._skipped[f"of a model or adapter beyond the first {self.settings.max_partitions}"] += 1
            return
        tree, tally, tenant = found
        tally.without_prompt += lengths_only
        blocks = tree.insert(prompt, request.time_s, tenant)[0] if prompt else 0
        bounds = self.bounds
        if bounds.nodes > bounds.max_nodes or bounds.chars > bounds.max_chars:
            prune([each.root for each in self._trees.values()], bounds)
        bounds.uses += tally.count(request, self._bucket_s, blocks, chars)
        if bounds.uses > bounds.max_uses:
            self._coarsen()

    def _first(self, request: Request, block_tokens: int | None) -> _Asking | None:
        """Where requests like this one are counted: the tree, the tally, the tenant's number; nowhere, past a bound."""
        key = Key(request.model, request.adapter, block_tokens)
        tree = self._trees.get(key)
        if tree is None:
            if len(self._trees) >= self.settings.max_partitions:
                return None
            block_chars = self.settings.block_chars if block_tokens is None else ID_CHARS
            tree = self._trees[key] = PrefixTree(block_chars, self._bucket_s, self.bounds)
        tenant = NO_TENANT if request.tenant is None else self._tenant(request.tenant)
        tally = self._tallies.get((key, tenant))
        if tally is None and tenant != NO_TENANT and len(self._tallies) >= self.settings.max_shares:
            tenant = self._tenants.setdefault(OTHERS, len(self._tenants) + 1)
            tally = self._tallies.get((key, tenant))
        if tally is None:
            tally = self._tallies[key, tenant] = Tally()
        found = tree, tally, tenant
        if block_tokens is None and len(self._asking) < _KNOWN:
            self._asking[request.model, request.adapter, request.tenant] = found
        return found

    def _coarsen(self) -> None:
        """Tell times by twice as long buckets, a day's at most; where even those are too many, the bound gives way."""
        bounds = self.bounds
        while bounds.uses > _ROOM * bounds.max_uses:
            if self._bucket_s >= _DAY_S:
                bounds.max_uses *= 2
                return
            self._bucket_s *= 2
            for tree in self._trees.values():
                tree.coarsen()
            bounds.uses -= sum([tally.coarsen() for tally in self._tallies.values()])

    def _tenant(self, name: str) -> int:
        tenant = self._tenants.get(name)
        if tenant is None:
            if len(self._tenants) >= self.settings.max_tenants:
                name = OTHERS
            tenant = self._tenants.setdefault(name, len(self._tenants) + 1)
        return tenant

    def profile(self, report: ReadReport | None = None, *, derived: bool = True) -> Profile:
        """The profile of all that was added. Raises :class:`NothingToLearn` when that was nothing.

        ``derived`` false leaves out what follows from its nodes, and keeps all text: for what is merged at once.
        """
        if not self._tallies:
            raise NothingToLearn(self._skipped)
        names = [NOBODY, *self._tenants]
        end_s = max(tally.last_s for tally in self._tallies.values())
        end_s = 0.0 if end_s == float("-inf") else end_s
        shares: defaultdict[Key, dict[str, Share]] = defaultdict(dict)
        for (key, tenant), tally in self._tallies.items():
            shares[key][names[tenant]] = tally.share()
        parts = [
            Part(key, found, _edges(self._trees[key], names, key.block_tokens is None, end_s))
            for key, found in shares.items()
        ]
        profile = assembled(
            parts,
            rendering=self.renderer.rendering,
            block_chars=self.settings.block_chars,
            bucket_s=self._bucket_s,
            bounds=self.bounds,
            skipped=dict(Counter(report.skipped if report else {}) + self._skipped),
        )
        if not derived:
            return profile
        from preheat.mine.derive import derive  # brings scipy, which counting does without

        return derive(profile, self.settings)


def _edges(tree: PrefixTree, tenants: list[str], is_text: bool, end_s: float) -> list[Edge]:
    walked = list(tree.walk())
    edges: list[Edge] = []
    maker = NodeMaker(tenants, end_s)
    size = tree.block_chars
    for number, total in totals(walked):
        node, parent = walked[number]
        text = node.text
        digests = text_digests(text, size) if is_text else id_digests(text)
        made = maker.node(total, text if is_text else None, len(text) // size, node.error)
        edges.append(Edge(parent, digests, made))
    edges.reverse()
    return edges


def mine(
    requests: Iterable[Request],
    renderer: Renderer,
    settings: MineSettings | None = None,
    report: ReadReport | None = None,
    *,
    derived: bool = True,
) -> Profile:
    """Mine a whole stream of requests; ``derived`` as in :meth:`Miner.profile`."""
    miner = Miner(renderer, settings)
    with no_collection():
        for request in requests:
            miner.add(request)
        return miner.profile(report, derived=derived)


def _why(skipped: Counter[str]) -> str:
    if not skipped:
        return "check the paths, the format and --until"
    return "; ".join(f"{count} x {reason}" for reason, count in skipped.most_common(3))
