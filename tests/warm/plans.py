"""Small plans whose prefixes end at the sandbox's cache blocks, and an engine that keeps count of what it is sent."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from preheat.engines.engine import Prefill
from preheat.records.plan import Plan, PlanItem
from preheat.records.rendering import Prefix
from preheat.sandbox.cache import chain_of
from preheat.sandbox.inprocess import InProcessEngine
from preheat.sandbox.settings import SandboxSettings

BLOCK_TOKENS, BLOCK_CHARS = 16, 64
WORDS = [
    "river",
    "stone",
    "window",
    "paper",
    "garden",
    "winter",
    "orange",
    "table",
    "letter",
    "morning",
    "silver",
    "island",
]


def text(name: str, blocks: int) -> str:
    """So many whole blocks of words that no other name has."""
    chooser = random.Random(name)
    words = name + " " + " ".join(chooser.choice(WORDS) for _ in range(blocks * 16))
    return words[: blocks * BLOCK_CHARS]


def item(name: str, prefix: str, leader: PlanItem | None = None, **more: Any) -> PlanItem:
    tokens = len(prefix) // 4
    new = tokens - (leader.tokens if leader else 0)
    return PlanItem(
        id=name,
        text=prefix,
        leader=leader.id if leader else None,
        blocks=len(prefix) // BLOCK_CHARS,
        tokens=tokens,
        resident_tokens=tokens,
        new_tokens=new,
        tokens_exact=True,
        expected_uses=1.0,
        use_probability=0.9,
        bytes=new * 1024,
        cost_ms=new * 0.25,
        gain_ms=new * 0.2,
        **more,
    )


def singles(count: int, blocks: int = 4, **more: Any) -> list[PlanItem]:
    """Prefixes that share nothing."""
    return [item(f"single-{number}", text(f"single {number}", blocks), **more) for number in range(count)]


def families(count: int, followers: int, trunk_blocks: int = 6, own_blocks: int = 2) -> list[PlanItem]:
    """Leaders, each with its followers right behind it, and one more that extends the last of them."""
    items = []
    for family in range(count):
        leader = item(f"leader-{family}", text(f"trunk {family}", trunk_blocks))
        items.append(leader)
        for number in range(followers):
            own = text(f"branch {family} {number}", own_blocks)
            items.append(item(f"follower-{family}-{number}", (leader.text or "") + own, leader))
        last = items[-1]
        items.append(item(f"grandchild-{family}", (last.text or "") + text(f"leaf {family}", own_blocks), last))
    return items


def plan_of(items: Sequence[PlanItem], **more: Any) -> Plan:
    return Plan(strategy="preheat", profile_hash="0" * 64, at_s=0.0, window_s=300.0, items=list(items), **more)


class Counting(InProcessEngine):
    """The sandbox; notes each prefill: what was sent, what was resident just before, how many ran at once."""

    def __init__(self, settings: SandboxSettings | None = None, *, name: str = "in-process") -> None:
        super().__init__(settings, name=name)
        self.sent: Counter[tuple[int, ...]] = Counter()
        self.resident_before: list[tuple[tuple[int, ...], int]] = []
        self.most_at_once = self._at_once = 0

    async def prefill(
        self, prefix: Prefix, token_ids: Sequence[int] | None, *, adapter: str | None = None, timeout_s: float = 120.0
    ) -> Prefill:
        ids = tuple(token_ids if token_ids is not None else self.core.tokenize(prefix.text))
        self.sent[ids] += 1
        chain = chain_of(ids, BLOCK_TOKENS, adapter=adapter)
        self.resident_before.append((ids, self.core.cache.lookup(chain, len(ids)) * BLOCK_TOKENS))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await super().prefill(prefix, token_ids, adapter=adapter, timeout_s=timeout_s)
        finally:
            self._at_once -= 1

    @property
    def computed_tokens(self) -> int:
        """All that the engine had to compute so far, by its own counters."""
        return self.core.counted.prompt_tokens - self.core.counted.prefix_hits


async def after(seconds: float, stop: asyncio.Event) -> None:
    """Set ``stop`` at a moment of virtual time."""
    await asyncio.sleep(seconds)
    stop.set()
