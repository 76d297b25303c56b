"""vLLM: blocks shared between prompts, salted caches, adapters as models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preheat.engines.boundary import shared_tokens
from preheat.engines.engine import Prefill
from preheat.engines.exposition import samples, summed
from preheat.engines.openai import OpenAIEngine, usage_of
from preheat.engines.payload import Chat
from preheat.engines.streaming import cached_of
from preheat.errors import EngineFailed, EngineGarbage, EngineRejected
from preheat.records.outcomes import Retention
from preheat.records.rendering import Prefix
from preheat.records.target import EngineInfo

_DEFAULT_BLOCK_TOKENS = 16
_PARALLEL = 4  # vLLM does not say; it batches, and so many prompts keep it busy


class VllmEngine(OpenAIEngine):
    """Counts cached tokens in whole blocks, and only where it runs with ``--enable-prompt-tokens-details``."""

    kind = "vllm"

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> list[list[int]]:
        await self.describe()
        return await shared_tokens(self, prefixes, self.wire.settings.tokenize_in_flight)

    async def text_ids(self, prefix: Prefix, text: str) -> list[int]:
        """A template writes its own BOS, and the chat route adds none to what a template wrote."""
        info = await self.describe()
        body = {"model": info.model, "prompt": text, "add_special_tokens": prefix.rendering.is_default}
        return await self._tokenize(body)

    async def chat_ids(self, chat: Chat) -> list[int]:
        """With the generation prompt and without further special tokens, as its chat route does."""
        body = {"model": (await self.describe()).model, "add_generation_prompt": True, **chat.body()}
        return await self._tokenize(body)

    async def prefill(
        self,
        prefix: Prefix,
        token_ids: Sequence[int] | None,
        *,
        adapter: str | None = None,
        timeout_s: float = 120.0,
    ) -> Prefill:
        """One token is generated: vLLM refuses none. Without ``token_ids`` the shared tokens are asked for first."""
        info = await self.describe()
        ids = list(token_ids) if token_ids is not None else (await self.shared_tokens([prefix]))[0]
        return await self._prefill_route("/v1/completions", {"prompt": ids}, info, adapter, timeout_s)

    async def counters(self) -> dict[str, float]:
        return summed(await self.wire.get_text("/metrics"))

    async def reset(self) -> bool:
        """``False`` outside dev mode, and while a request runs."""
        try:
            reply = await self.wire.post_json("/reset_prefix_cache", {})
        except (EngineRejected, EngineFailed):
            return False
        return isinstance(reply, dict) and reply.get("success") is True

    async def _ask(self) -> EngineInfo:
        listing = await self.wire.get_json("/v1/models")
        version = await self.wire.get_json("/version")
        try:
            entries = listing["data"]
            base = next((entry for entry in entries if not entry.get("parent")), entries[0])
            model = self.wire.settings.model or base["id"]
            config = _cache_config(await self.wire.get_text("/metrics"))
            block, capacity = config.get("block_size", _DEFAULT_BLOCK_TOKENS), config.get("num_gpu_blocks")
            template = await self._tokenizer_info()
            return EngineInfo(
                kind=self.kind,
                url=self.url,
                model=model,
                models=tuple(entry["id"] for entry in entries),
                version=version.get("version"),
                context_tokens=base.get("max_model_len"),
                block_tokens=block,
                capacity_tokens=None if capacity is None else capacity * block,
                kv_bytes_per_token=_bytes_per_token(config),
                retention=Retention.BLOCKS,
                chat_template=template.get("chat_template"),
                bos_token=template.get("bos_token", ""),
                eos_token=template.get("eos_token", ""),
                reports_cached=await self._probe_blocks(model, block),
                parallel=_PARALLEL,
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise EngineGarbage(f"{self.wire.where('/v1/models')} did not list models") from error

    async def _tokenizer_info(self) -> dict[str, str]:
        """Template and special tokens; empty unless it runs with ``--enable-tokenizer-info-endpoint``."""
        try:
            info = await self.wire.get_json("/tokenizer_info")
        except (EngineRejected, EngineFailed):
            return {}
        return {name: value for name, value in info.items() if isinstance(value, str)}

    async def _probe_blocks(self, model: str, block: int) -> bool:
        """Prefills two blocks and a token, twice at most: some versions leave the field out while it is zero."""
        body = {"model": model, "prompt": [1] * (2 * block + 1), "max_tokens": 1, "temperature": 0.0}
        for _ in range(2):
            reply = await self.wire.post_json("/v1/completions", body, timeout_s=120.0)
            if cached_of(usage_of(reply)) is not None:
                return True
        return False

    async def _tokenize(self, body: dict[str, Any]) -> list[int]:
        reply = await self.wire.post_json("/tokenize", body)
        try:
            return [int(token) for token in reply["tokens"]]
        except (KeyError, TypeError, ValueError) as error:
            raise EngineGarbage(f"{self.wire.where('/tokenize')} gave no tokens") from error

    def _in_namespace(self, body: dict[str, Any], namespace: str) -> dict[str, Any]:
        return body | {"cache_salt": namespace}


def _cache_config(metrics: str) -> dict[str, int]:
    """The numbers among the labels of ``vllm:cache_config_info``."""
    for name, labels, _ in samples(metrics):
        if name == "vllm:cache_config_info":
            return {label: int(value) for label, value in labels.items() if value.isdigit()}
    return {}


def _bytes_per_token(config: dict[str, int]) -> float | None:
    """Its cache's memory / the tokens that fit (ours); ``None`` where it does not say both, or the count was forced."""
    memory_bytes, tokens = config.get("kv_cache_memory_bytes"), config.get("kv_cache_size_tokens")
    if not memory_bytes or not tokens or "num_gpu_blocks_override" in config:
        return None
    return memory_bytes / tokens
