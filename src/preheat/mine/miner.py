"""Requests in, one profile out. Streaming: memory grows with what is distinct, not with the log."""

from __future__ import annotations

from collections.abc import Iterable

from preheat.blocks.tree import PrefixTree
from preheat.errors import BadInput
from preheat.mine.clusters import Reservoir, cluster
from preheat.mine.settings import MineSettings
from preheat.prompts.render import PromptNotRenderable, Renderer
from preheat.records.profile import Node, Partition, Profile
from preheat.records.request import ReadReport, Request


class Miner:
    """Collects requests one by one; :meth:`profile` gives what they amount to."""

    def __init__(self, renderer: Renderer, settings: MineSettings | None = None) -> None:
        self.settings = settings or MineSettings()
        self.renderer = renderer
        self._trees: dict[tuple[str | None, str | None], tuple[int, PrefixTree]] = {}
        self._counts: dict[int, int] = {}
        self._sample = Reservoir(self.settings.cluster_sample)
        self._tenants: dict[str, int] = {}
        self._skipped: dict[str, int] = {}
        self._requests = self._blocks = self._hits = self._chars = 0
        self._start_s, self._end_s = float("inf"), float("-inf")

    def add(self, request: Request) -> None:
        """Count one request in. One whose template refuses it is counted as skipped, with the reason."""
        try:
            prompt = self.renderer.render(request)
        except PromptNotRenderable as refusal:
            where = f"{request.source or request.id}: "  # of this one request: what is counted is the reason
            reason = f"not renderable: {refusal.message.removeprefix(where)}"
            self._skipped[reason] = self._skipped.get(reason, 0) + 1
            return
        time_s = request.time_s
        if time_s is not None:
            self._start_s, self._end_s = min(self._start_s, time_s), max(self._end_s, time_s)
        partition, tree = self._tree(request)
        blocks, hits = tree.insert(prompt, time_s, request.tenant)
        self._requests += 1
        self._counts[partition] = self._counts.get(partition, 0) + 1
        self._blocks += blocks
        self._hits += hits
        self._chars += len(prompt)
        if request.tenant is not None:
            self._tenants[request.tenant] = self._tenants.get(request.tenant, 0) + 1
        self._sample.add(prompt, partition)

    def profile(self, report: ReadReport | None = None) -> Profile:
        """The profile of all that was added. Raises :class:`BadInput` when that was nothing."""
        if not self._requests:
            raise BadInput("there is nothing to learn from: no request could be used", _why(self._skipped))
        keep = self.settings.keep_text
        timed = self._start_s <= self._end_s
        start_s, end_s = (self._start_s, self._end_s) if timed else (0.0, 0.0)
        skipped = dict(report.skipped) if report else {}
        skipped.update(self._skipped)
        nodes = self._nodes(end_s)
        return Profile(
            rendering=self.renderer.rendering,
            block_chars=self.settings.block_chars,
            bucket_s=self.settings.bucket_s,
            start_s=start_s,
            end_s=end_s,
            requests=self._requests,
            blocks=self._blocks,
            distinct_blocks=sum(node.blocks for node in nodes),
            chars=self._chars,
            tenants=dict(sorted(self._tenants.items())),
            partitions=[
                Partition(model, adapter, self._counts.get(number, 0))
                for (model, adapter), (number, _) in self._trees.items()
            ],
            nodes=nodes,
            clusters=cluster(self._sample, self.settings.cluster_threshold, keep),
            cluster_sample=len(self._sample.slots),
            pruned_nodes=sum(tree.pruned for _, tree in self._trees.values()),
            skipped=skipped,
            has_text=keep,
        )

    def _tree(self, request: Request) -> tuple[int, PrefixTree]:
        key = (request.model, request.adapter)
        found = self._trees.get(key)
        if found is None:
            settings = self.settings
            tree = PrefixTree(settings.block_chars, settings.bucket_s, settings.max_nodes, settings.max_chars)
            found = self._trees[key] = (len(self._trees), tree)
        return found

    def _nodes(self, end_s: float) -> list[Node]:
        """The trees as one list, parents first; requests without a time count as arrivals at ``end_s``."""
        nodes: list[Node] = []
        end_bucket = int(end_s // self.settings.bucket_s)
        for partition, tree in self._trees.values():
            offset = len(nodes)
            for node, parent, digest in tree.walk():
                arrivals = node.arrivals
                if node.untimed:
                    arrivals = {**arrivals, end_bucket: arrivals.get(end_bucket, 0) + node.untimed}
                nodes.append(
                    Node(
                        parent=parent + offset if parent >= 0 else -1,
                        partition=partition,
                        hash=digest,
                        blocks=len(node.text) // tree.block_chars,
                        text=node.text if self.settings.keep_text else None,
                        count=node.count,
                        ends=node.ends,
                        first_s=min(node.first_s, end_s),
                        last_s=end_s if node.untimed else node.last_s,
                        arrivals=arrivals,
                        tenants=node.tenants,
                    )
                )
        return nodes


def mine(
    requests: Iterable[Request],
    renderer: Renderer,
    settings: MineSettings | None = None,
    report: ReadReport | None = None,
) -> Profile:
    """Mine a whole stream of requests."""
    miner = Miner(renderer, settings)
    for request in requests:
        miner.add(request)
    return miner.profile(report)


def _why(skipped: dict[str, int]) -> str:
    if not skipped:
        return "check the paths, the format and --until"
    return "; ".join(f"{count} x {reason}" for reason, count in sorted(skipped.items(), key=lambda pair: -pair[1])[:3])
