"""What exactly is sent to warm an item: its tokens in whole cache blocks, plus one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from preheat.engines.engine import Engine
from preheat.records.plan import Plan, PlanItem
from preheat.records.rendering import Prefix
from preheat.records.target import EngineInfo

_CONTEXT_RESERVE_TOKENS = 8
"""Left free behind a clipped prefix, for the filler and the token that some engines insist on generating."""
_BATCH = 64


class WarmPrompt(NamedTuple):
    """``ids`` is ``None`` where the engine takes text only; ``predicted_tokens`` is what must then be resident."""

    prefix: Prefix
    ids: tuple[int, ...] | None
    predicted_tokens: int
    clipped: bool


async def prepare(plan: Plan, items: Sequence[PlanItem], engine: Engine, info: EngineInfo) -> dict[str, WarmPrompt]:
    """Prompts for the items, by item id, tokenised by the engine itself where it can."""
    prompts: dict[str, WarmPrompt] = {}
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        prefixes = [Prefix(item.text or "", plan.rendering) for item in batch]
        shared = await engine.shared_tokens(prefixes)
        for index, item in enumerate(batch):
            if shared is None:
                prompts[item.id] = WarmPrompt(prefixes[index], None, info.whole_blocks(item.tokens), False)
            else:
                prompts[item.id] = _exact(prefixes[index], shared[index], info)
    return prompts


def _exact(prefix: Prefix, ids: Sequence[int], info: EngineInfo) -> WarmPrompt:
    """Whole blocks and one token more: engines never serve a prompt's last token from the cache."""
    boundary = info.whole_blocks(len(ids))
    clipped = False
    if info.context_tokens is not None and boundary + 1 > info.context_tokens - _CONTEXT_RESERVE_TOKENS:
        boundary = info.whole_blocks(info.context_tokens - _CONTEXT_RESERVE_TOKENS - 1)
        clipped = True
    if not ids:
        return WarmPrompt(prefix, (), 0, clipped)
    filler = ids[boundary] if boundary < len(ids) else ids[-1]
    return WarmPrompt(prefix, (*ids[:boundary], filler), boundary, clipped)
