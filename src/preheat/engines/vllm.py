"""vLLM: blocks shared between prompts, salted caches, adapters as models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from preheat.engines.boundary import shared_tokens
from preheat.engines.counts import REMEDY, maybe_count, name_of, ratio_of, template_of, understanding
from preheat.engines.engine import Prefill
from preheat.engines.exposition import samples, summed
from preheat.engines.openai import OpenAIEngine
from preheat.engines.payload import Chat
from preheat.engines.shown import shown
from preheat.errors import EngineFailed, EngineGarbage, EngineRejected
from preheat.records.outcomes import Retention
from preheat.records.rendering import Prefix
from preheat.records.target import EngineInfo

_DEFAULT_BLOCK_TOKENS = 16
_LARGEST_BLOCK_TOKENS = 65_536
_NUMBER = re.compile(r"[0-9]{1,15}")
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
        where = self.wire.where("/v1/models")
        with understanding(where, "did not list models"):
            entries = listing["data"]
            models = tuple(name_of(entry["id"], where, "model name") for entry in entries)
            base = next((entry for entry in entries if not entry.get("parent")), entries[0])
            context = maybe_count(base.get("max_model_len"), where, "max_model_len", at_least=1)
            model = self.wire.settings.model or base["id"]
        config = _cache_config(await self.wire.get_text("/metrics"))
        block, blocks = config.get("block_size") or _DEFAULT_BLOCK_TOKENS, config.get("num_gpu_blocks")
        if block > _LARGEST_BLOCK_TOKENS:
            raise EngineGarbage(f"{self.wire.where('/metrics')} gave {block} as block_size", REMEDY)
        template = await self._tokenizer_info()
        said = version.get("version") if isinstance(version, dict) else None
        return EngineInfo(
            kind=self.kind,
            url=self.url,
            model=model,
            models=models,
            version=shown(said, 80) if isinstance(said, str) else None,
            context_tokens=context,
            block_tokens=block,
            capacity_tokens=blocks * block if blocks else None,
            kv_bytes_per_token=_bytes_per_token(config),
            retention=Retention.BLOCKS,
            chat_template=template.get("chat_template"),
            bos_token=template.get("bos_token", ""),
            eos_token=template.get("eos_token", ""),
            reports_cached=await self._probe_blocks(model, block),
            parallel=_PARALLEL,
        )

    async def _tokenizer_info(self) -> dict[str, str]:
        """Template and special tokens; empty unless it runs with ``--enable-tokenizer-info-endpoint``."""
        try:
            info = await self.wire.get_json("/tokenizer_info")
        except (EngineRejected, EngineFailed):
            return {}
        said = {name: template_of(value) for name, value in info.items()} if isinstance(info, dict) else {}
        return {name: value for name, value in said.items() if value is not None}

    async def _probe_blocks(self, model: str, block: int) -> bool:
        """Prefills two blocks and a token, twice at most: some versions leave the field out while it is zero."""
        body = {"model": model, "prompt": [1] * (2 * block + 1), "max_tokens": 1, "temperature": 0.0}
        for _ in range(2):
            if await self._says_cached("/v1/completions", body):
                return True
        return False

    async def _tokenize(self, body: dict[str, Any]) -> list[int]:
        return self._token_ids(await self.wire.post_json("/tokenize", body))

    def _in_namespace(self, body: dict[str, Any], namespace: str) -> dict[str, Any]:
        return body | {"cache_salt": namespace}


def _cache_config(metrics: str) -> dict[str, int]:
    """The numbers among the labels of ``vllm:cache_config_info``; longer ones than any cache has are left out."""
    for name, labels, _ in samples(metrics):
        if name == "vllm:cache_config_info":
            return {label: int(value) for label, value in labels.items() if _NUMBER.fullmatch(value)}
    return {}


def _bytes_per_token(config: dict[str, int]) -> float | None:
    """Its cache's memory / the tokens that fit (ours); ``None`` where it does not say both, or the count was forced."""
    if "num_gpu_blocks_override" in config:
        return None
    return ratio_of(config.get("kv_cache_memory_bytes"), config.get("kv_cache_size_tokens"))
