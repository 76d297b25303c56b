"""What a plan needs to know of the engine it is for."""

from __future__ import annotations

import msgspec

from preheat.records.outcomes import Retention

ASSUMED_PREFILL_MS_PER_TOKEN = 0.25
"""Used where no engine was measured: about a 7 B model on one data-centre GPU. Always labelled as assumed."""
ASSUMED_KV_BYTES_PER_TOKEN = 131_072
"""2 (K, V) x 32 layers x 8 KV heads x 128 x 2 bytes: Llama-3-8B in FP16. Always labelled as assumed."""
ASSUMED_CHARS_PER_TOKEN = 4.0


class CostModel(msgspec.Struct, frozen=True, kw_only=True):
    """Prefill time and memory. ``source``: ``measured on URL``, ``given`` or ``assumed``.

    Prefill of ``n`` uncached tokens takes ``fixed_ms + n * prefill_ms_per_token``.
    """

    prefill_ms_per_token: float = ASSUMED_PREFILL_MS_PER_TOKEN
    fixed_ms: float = 0.0
    kv_bytes_per_token: float = ASSUMED_KV_BYTES_PER_TOKEN
    chars_per_token: float = ASSUMED_CHARS_PER_TOKEN
    source: str = "assumed"

    def prefill_ms(self, tokens: int) -> float:
        """Milliseconds to prefill ``tokens`` uncached tokens."""
        return self.fixed_ms + tokens * self.prefill_ms_per_token


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An engine's own description of itself. ``None`` where it does not say.

    ``block_tokens`` is the granularity in which it reports and keeps cached tokens (llama.cpp: 1);
    ``capacity_tokens`` how many token positions its cache can hold; ``parallel`` how many prompts it works
    on at once; ``reports_cached`` whether a reply says how many prompt tokens came from the cache.
    """

    kind: str
    url: str
    model: str = ""
    models: tuple[str, ...] = ()
    version: str | None = None
    context_tokens: int | None = None
    block_tokens: int = 1
    capacity_tokens: int | None = None
    kv_bytes_per_token: float | None = None
    retention: Retention = Retention.BLOCKS
    chat_template: str | None = None
    bos_token: str = ""
    eos_token: str = ""
    reports_cached: bool = False
    parallel: int = 1

    def whole_blocks(self, tokens: int) -> int:
        """``tokens`` rounded down to whole cache blocks: what can be resident of a prefix that long."""
        return tokens // self.block_tokens * self.block_tokens
