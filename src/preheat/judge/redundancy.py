"""Redundancy: warmed blocks that nobody asked for within the first day / warmed blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from preheat.records.evidence import Metric
from preheat.records.outcomes import Outcome
from preheat.records.plan import PlanItem
from preheat.records.profile import BLOCK_CHARS
from preheat.records.run import WarmRun
from preheat.records.units import show_seconds

DAY_S = 86_400.0
FORMULA = "warmed blocks that no later prompt has as part of its prefix / warmed blocks"


class LaterPrompt(NamedTuple):
    """A prompt of the log after the start, rendered as the plan's items were. ``time_s`` in the log's own clock."""

    time_s: float | None
    text: str
    model: str | None = None
    adapter: str | None = None


@dataclass(frozen=True)
class Redundancy:
    """``unused_blocks`` / ``warmed_blocks``, over the window that the log really held.

    ``window_s`` is from the start to the last prompt seen, a day at most; ``prompts`` were counted in it,
    ``untimed`` had no time and were left out. ``textless_items`` had no text and could not be judged.
    """

    warmed_blocks: int
    unused_blocks: int
    window_s: float
    horizon_s: float
    prompts: int
    untimed: int
    textless_items: int

    @property
    def value(self) -> float | None:
        return self.unused_blocks / self.warmed_blocks if self.warmed_blocks and self.prompts else None

    @property
    def why(self) -> str:
        if not self.warmed_blocks:
            return "no warmed item has text (profile without text)" if self.textless_items else "nothing was warmed"
        return "" if self.prompts else "the log holds no request with a time after the start"

    def metric(self) -> Metric:
        """As evidence, with the window it really had."""
        whole = self.window_s >= self.horizon_s
        held = show_seconds(self.window_s) + (" from the start" if whole else " from the start: all that the log holds")
        left = [f"{self.untimed} requests without a time left out"] if self.untimed else []
        left += [f"{self.textless_items} items without text left out"] if self.textless_items else []
        return Metric(
            name="redundancy",
            title="Redundancy",
            unit="share",
            value=self.value,
            denominator=f"{self.unused_blocks} of {self.warmed_blocks} warmed blocks",
            window=f"{held}; {self.prompts} requests",
            formula=FORMULA,
            why=self.why,
            note="; ".join(left),
        )


@dataclass
class _Trie:
    """Warmed blocks as a tree: a block counts once, however many items share the prefix that ends in it."""

    block_chars: int
    edges: dict[tuple[int, str], int] = field(default_factory=dict)
    roots: dict[tuple[str | None, str | None], int] = field(default_factory=dict)
    asked: bytearray = field(default_factory=bytearray)
    blocks: int = 0

    def _node(self) -> int:
        self.asked.append(0)
        return len(self.asked) - 1

    def _pieces(self, text: str) -> Iterator[str]:
        for start in range(0, len(text) - self.block_chars + 1, self.block_chars):
            yield text[start : start + self.block_chars]

    def add(self, partition: tuple[str | None, str | None], text: str) -> None:
        if partition not in self.roots:
            self.roots[partition] = self._node()
        node = self.roots[partition]
        for piece in self._pieces(text):
            following = self.edges.get((node, piece))
            if following is None:
                following = self.edges[node, piece] = self._node()
                self.blocks += 1
            node = following

    def ask(self, partition: tuple[str | None, str | None], text: str) -> None:
        node = self.roots.get(partition)
        if node is None:
            return
        for piece in self._pieces(text):
            node = self.edges.get((node, piece))
            if node is None:
                return
            self.asked[node] = 1


def warmed_ids(run: WarmRun) -> set[str]:
    """Items that were put into the cache, whether or not they are still there: what redundancy is counted over."""
    there = {Outcome.LOADED, Outcome.ALREADY, Outcome.CLIPPED, Outcome.MISSING}
    return {
        item.id
        for item in run.items
        if item.status in there or (item.status is Outcome.UNSUPPORTED and item.computed_tokens)
    }


def redundancy(
    items: Iterable[PlanItem],
    prompts: Iterable[LaterPrompt],
    *,
    start_s: float,
    block_chars: int = BLOCK_CHARS,
    horizon_s: float = DAY_S,
    warmed: Collection[str] | None = None,
) -> Redundancy:
    """Redundancy of ``items`` (those in ``warmed``, or all) against the log's ``prompts`` from ``start_s`` on.

    Streams ``prompts`` in any order, once; memory is that of the items' texts. Prompts before the start and
    beyond ``horizon_s`` (a day) are passed over. An item and a prompt of different models or adapters never meet.
    """
    trie = _Trie(block_chars)
    textless = 0
    for item in items:
        if warmed is not None and item.id not in warmed:
            continue
        if item.text is None:
            textless += 1
        else:
            trie.add((item.model, item.adapter), item.text)
    counted = untimed = 0
    last_s = start_s
    for prompt in prompts:
        if prompt.time_s is None:
            untimed += 1
        elif prompt.time_s >= start_s:
            last_s = max(last_s, min(prompt.time_s, start_s + horizon_s))
            if prompt.time_s < start_s + horizon_s:
                counted += 1
                trie.ask((prompt.model, prompt.adapter), prompt.text)
    return Redundancy(
        trie.blocks, trie.blocks - sum(trie.asked), last_s - start_s, horizon_s, counted, untimed, textless
    )
