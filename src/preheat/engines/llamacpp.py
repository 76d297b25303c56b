"""llama.cpp's own server: prefill without generation, its own timings, whole prompt states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from preheat.engines.boundary import shared_tokens
from preheat.engines.counts import (
    REMEDY,
    count_of,
    name_of,
    prefill_of,
    ratio_of,
    template_of,
    understanding,
)
from preheat.engines.engine import Generation, Prefill
from preheat.engines.exposition import summed
from preheat.engines.openai import OpenAIEngine
from preheat.engines.payload import Chat, chat_route, request_body, with_nonce
from preheat.engines.shown import shown
from preheat.engines.streaming import cached_of
from preheat.engines.wire import Wire
from preheat.errors import EngineFailed, EngineGarbage, EngineRejected
from preheat.records.outcomes import Retention
from preheat.records.rendering import Prefix
from preheat.records.request import Request
from preheat.records.target import EngineInfo

_PROBE_TEXT = "One two three four five six seven eight nine ten. " * 3  # a saved slot's header is then 0.2 %


class LlamaCppEngine(OpenAIEngine):
    """Counts in single tokens, keeps whole prompt states, and says what it reused in ``timings.cache_n``."""

    kind = "llamacpp"

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire)
        wire.keep_alive = False  # an idle connection would hold one of the server's few threads for seconds
        self._adds_bos: bool | None = None

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> list[list[int]]:
        await self._know_bos()
        return await shared_tokens(self, prefixes, self.wire.settings.tokenize_in_flight)

    async def text_ids(self, prefix: Prefix, text: str) -> list[int]:
        """As the server does with any prompt: its chat route takes the template's own BOS off before it adds one."""
        bos = (await self.describe()).bos_token
        if await self._know_bos() and bos and text.startswith(bos):
            text = text[len(bos) :]
        return await self._tokenize(text)

    async def chat_ids(self, chat: Chat) -> list[int]:
        """Through ``/apply-template``, with the generation prompt, as its chat route does."""
        reply = await self.wire.post_json("/apply-template", chat.body())
        prompt = reply.get("prompt") if isinstance(reply, dict) else None
        if not isinstance(prompt, str):
            raise EngineGarbage(f"{self.wire.where('/apply-template')} gave no prompt", REMEDY)
        return await self._tokenize(prompt)

    async def prefill(
        self,
        prefix: Prefix,
        token_ids: Sequence[int] | None,
        *,
        adapter: str | None = None,
        timeout_s: float = 120.0,
    ) -> Prefill:
        """Nothing is generated. Without ``token_ids`` the shared tokens are asked for first."""
        ids = list(token_ids) if token_ids is not None else (await self.shared_tokens([prefix]))[0]
        body = {"prompt": ids, "n_predict": 0, "cache_prompt": True, **await self._lora(adapter)}
        sent_s = self.wire.clock.now_s()
        reply = await self.wire.post_json("/completion", body, timeout_s=timeout_s)
        wall_ms, where = (self.wire.clock.now_s() - sent_s) * 1e3, self.wire.where("/completion")
        with understanding(where, "gave no timings"):
            timings = reply["timings"]
            cached = count_of(timings["cache_n"], where, "cache_n")
            computed = count_of(timings["prompt_n"], where, "prompt_n")
            return prefill_of(
                where,
                prompt_tokens=cached + computed,
                cached_tokens=cached,
                prompt_ms=timings.get("prompt_ms"),
                wall_ms=wall_ms,
            )

    async def generate(
        self, request: Request, *, max_tokens: int, namespace: str | None = None, timeout_s: float = 600.0
    ) -> Generation:
        info = await self.describe()
        body = request_body(request, model=info.model, max_tokens=max_tokens) | await self._lora(request.adapter)
        if namespace is not None:
            body = with_nonce(body, namespace)
        path = chat_route(body)
        reading = await self._read(path, body, max_tokens, timeout_s)
        cached = cached_of(reading.usage)
        return self._generation(path, reading, reading.timings.get("cache_n") if cached is None else cached)

    async def counters(self) -> dict[str, float]:
        """Empty where the server was started without ``--metrics`` (it then answers 501)."""
        try:
            return summed(await self.wire.get_text("/metrics"))
        except (EngineRejected, EngineFailed):
            return {}

    async def _ask(self) -> EngineInfo:
        props = await self.wire.get_json("/props")
        models = await self._models()
        where = self.wire.where("/props")
        with understanding(where, "is not llama.cpp's"):
            slots = count_of(props["total_slots"], where, "total_slots", at_least=1)
            context = count_of(props["default_generation_settings"]["n_ctx"], where, "n_ctx", at_least=1)
            alias, version = props.get("model_alias"), props.get("build_info")
        return EngineInfo(
            kind=self.kind,
            url=self.url,
            model=self.wire.settings.model or (models[0] if models else name_of(alias or "", where, "model_alias")),
            models=models,
            version=shown(version, 80) if isinstance(version, str) else None,
            context_tokens=context,
            block_tokens=1,
            kv_bytes_per_token=await self._kv_bytes_per_token(),
            retention=Retention.STATES,
            chat_template=template_of(props.get("chat_template")) or None,
            bos_token=template_of(props.get("bos_token")) or "",
            eos_token=template_of(props.get("eos_token")) or "",
            reports_cached=True,
            parallel=slots,
        )

    async def _kv_bytes_per_token(self) -> float | None:
        """Bytes of a saved slot / tokens in it; ``None`` where the server cannot save slots.

        Prefills a few words of its own (never a user's state, which may be gigabytes) and leaves one small file,
        ``preheat-probe.bin``, in the server's own folder for them.
        """
        if not await self._saves_slots():
            return None
        try:
            body = {"prompt": await self._tokenize(_PROBE_TEXT), "n_predict": 0, "cache_prompt": True}
            reply = await self.wire.post_json("/completion", body, timeout_s=120.0)
            slot = reply.get("id_slot") if isinstance(reply, dict) else None
            if slot is None:
                return None
            slot = count_of(slot, self.wire.where("/completion"), "id_slot")
            saved = await self.wire.post_json(f"/slots/{slot}?action=save", {"filename": "preheat-probe.bin"})
        except (EngineRejected, EngineFailed):
            return None
        return ratio_of(saved.get("n_written"), saved.get("n_saved")) if isinstance(saved, dict) else None

    async def _saves_slots(self) -> bool:
        """Without ``--slot-save-path`` it answers 501 to any saving; with it, 400 to a file without a name."""
        try:
            await self.wire.post_json("/slots/0?action=save", {"filename": ""})
        except EngineRejected:
            return True
        except EngineFailed:
            return False
        return False

    async def _tokenize(self, text: str) -> list[int]:
        body = {"content": text, "add_special": True, "parse_special": True}
        return self._token_ids(await self.wire.post_json("/tokenize", body))

    async def _know_bos(self) -> bool:
        """Whether the vocabulary puts a BOS in front of any prompt; asked once."""
        if self._adds_bos is None:
            plain = await self.wire.post_json("/tokenize", {"content": "a", "add_special": False})
            self._adds_bos = len(await self._tokenize("a")) > len(self._token_ids(plain))
        return self._adds_bos

    async def _lora(self, adapter: str | None) -> dict[str, Any]:
        """The body's part that chooses a LoRA adapter by its file's name."""
        if adapter is None:
            return {}
        loaded = await self.wire.get_json("/lora-adapters")
        where = self.wire.where("/lora-adapters")
        with understanding(where, "did not list adapters"):
            for entry in loaded:
                if adapter in (entry["path"], PurePath(entry["path"]).stem):
                    return {"lora": [{"id": count_of(entry["id"], where, "id"), "scale": 1.0}]}
        raise EngineRejected(f"the engine at {self.url} has no adapter {adapter!r}", "start it with --lora FILE")
