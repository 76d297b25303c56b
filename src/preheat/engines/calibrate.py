"""What one token costs on this engine: measured with a few prompts of its own, never with the user's."""

from __future__ import annotations

import random
import uuid

import msgspec

from preheat.engines.engine import Engine, rendering_of
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Message, Request
from preheat.records.target import CostModel, EngineInfo

_SMALL, _LARGE = 24, 160
_FAST_MS = 150.0
_FAST_SMALL, _FAST_LARGE = 256, 1_536
_WORDS = ("river", "stone", "window", "paper", "garden", "winter", "orange", "table", "letter", "morning", "silver")


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """``cost`` for planning; ``ms_per_output`` is the time between generated tokens, in ms."""

    cost: CostModel
    ms_per_output: float


async def calibrate(engine: Engine, info: EngineInfo) -> Speed:
    """Measure prefill time per token, the fixed cost of a request and the decode time.

    Two prompts of different length that no cache can know (a random number at their start) give slope and
    intercept; an engine that answers both at once gets two longer ones. Costs about 200 prefilled tokens on a slow
    engine, 2,000 on a fast one. The engine's own KV bytes per token are taken where it says them.
    """
    most = _LARGE if info.context_tokens is None else min(_LARGE, max(1, info.context_tokens // 2))
    small, large = (
        await _prefill_ms(engine, info, min(_SMALL, max(1, most // 4))),
        await _prefill_ms(engine, info, most),
    )
    if large[1] < _FAST_MS and (info.context_tokens is None or info.context_tokens > _FAST_LARGE + 64):
        small, large = await _prefill_ms(engine, info, _FAST_SMALL), await _prefill_ms(engine, info, _FAST_LARGE)
    per_token = max(1e-4, (large[1] - small[1]) / max(1, large[0] - small[0]))
    fixed = max(0.0, small[1] - small[0] * per_token)
    assumed = CostModel()
    info = await engine.describe()
    cost = CostModel(
        prefill_ms_per_token=per_token,
        fixed_ms=fixed,
        kv_bytes_per_token=info.kv_bytes_per_token or assumed.kv_bytes_per_token,
        source=f"measured on {info.url}"
        + ("" if info.kv_bytes_per_token else "; KV bytes per token assumed: the engine does not say"),
    )
    return Speed(cost=cost, ms_per_output=await _decode_ms(engine))


async def _prefill_ms(engine: Engine, info: EngineInfo, tokens: int) -> tuple[int, float]:
    """``(uncached tokens, wall ms)`` of one fresh prompt of about ``tokens`` tokens."""
    rendering = rendering_of(info) or Rendering()
    text = _text(tokens)
    if rendering.is_default:
        text = f"<|im_start|>user\n{text}"
    prefix = Prefix(text, rendering)
    ids = await engine.shared_tokens([prefix])
    reply = await engine.prefill(prefix, ids[0][:tokens] if ids else None)
    counted = reply.prompt_tokens or tokens  # an engine that counts nothing got about what it was asked to compute
    return counted - (reply.cached_tokens or 0), reply.wall_ms


async def _decode_ms(engine: Engine) -> float:
    request = Request(id="calibration", messages=(Message(role="user", content=_text(8)),))
    reply = await engine.generate(request, max_tokens=8)
    times = reply.token_times_ms
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0


def _text(tokens: int) -> str:
    chooser = random.Random(uuid.uuid4().int)
    return " ".join([str(chooser.randrange(10**6)), *(chooser.choice(_WORDS) for _ in range(tokens))])
