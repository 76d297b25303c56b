"""llama.cpp's own server: prefill without generation, its own timings, whole prompt states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from preheat.engines.boundary import shared_tokens
from preheat.engines.engine import Generation, Prefill
from preheat.engines.exposition import summed
from preheat.engines.openai import OpenAIEngine
from preheat.engines.payload import Chat, chat_route, request_body, with_nonce
from preheat.engines.streaming import cached_of, generation_of, read_stream
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
        try:
            return await self._tokenize(reply["prompt"])
        except (KeyError, TypeError) as error:
            raise EngineGarbage(f"{self.wire.where('/apply-template')} gave no prompt") from error

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
        try:
            timings = reply["timings"]
            return Prefill(
                prompt_tokens=timings["cache_n"] + timings["prompt_n"],
                cached_tokens=timings["cache_n"],
                prompt_ms=timings["prompt_ms"],
                wall_ms=(self.wire.clock.now_s() - sent_s) * 1e3,
            )
        except (KeyError, TypeError) as error:
            raise EngineGarbage(f"{self.wire.where('/completion')} gave no timings") from error

    async def generate(
        self, request: Request, *, max_tokens: int, namespace: str | None = None, timeout_s: float = 600.0
    ) -> Generation:
        info = await self.describe()
        body = request_body(request, model=info.model, max_tokens=max_tokens) | await self._lora(request.adapter)
        if namespace is not None:
            body = with_nonce(body, namespace)
        path = chat_route(body)
        reading = await read_stream(self.wire.stream(path, body, timeout_s=timeout_s), self.wire.where(path))
        cached = cached_of(reading.usage)
        return generation_of(reading, reading.timings.get("cache_n") if cached is None else cached)

    async def counters(self) -> dict[str, float]:
        """Empty where the server was started without ``--metrics`` (it then answers 501)."""
        try:
            return summed(await self.wire.get_text("/metrics"))
        except (EngineRejected, EngineFailed):
            return {}

    async def _ask(self) -> EngineInfo:
        props = await self.wire.get_json("/props")
        models = await self._models()
        try:
            slots = int(props["total_slots"])
            return EngineInfo(
                kind=self.kind,
                url=self.url,
                model=self.wire.settings.model or (models[0] if models else props.get("model_alias", "")),
                models=models,
                version=props.get("build_info"),
                context_tokens=props["default_generation_settings"]["n_ctx"],
                block_tokens=1,
                kv_bytes_per_token=await self._kv_bytes_per_token(),
                retention=Retention.STATES,
                chat_template=props.get("chat_template") or None,
                bos_token=props.get("bos_token") or "",
                eos_token=props.get("eos_token") or "",
                reports_cached=True,
                parallel=slots,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise EngineGarbage(f"{self.wire.where('/props')} is not llama.cpp's") from error

    async def _kv_bytes_per_token(self) -> float | None:
        """Bytes of a saved slot / tokens in it; ``None`` where the server cannot save slots.

        Prefills a few words of its own (never a user's state, which may be gigabytes) and leaves one small file,
        ``preheat-probe.bin``, in the server's own folder for them.
        """
        if not await self._saves_slots():
            return None
        try:
            body = {"prompt": await self._tokenize(_PROBE_TEXT), "n_predict": 0, "cache_prompt": True}
            slot = (await self.wire.post_json("/completion", body, timeout_s=120.0))["id_slot"]
            saved = await self.wire.post_json(f"/slots/{slot}?action=save", {"filename": "preheat-probe.bin"})
            return float(saved["n_written"]) / float(saved["n_saved"])
        except (EngineRejected, EngineFailed, KeyError, TypeError, ZeroDivisionError):
            return None

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
        reply = await self.wire.post_json("/tokenize", body)
        try:
            return [int(token) for token in reply["tokens"]]
        except (KeyError, TypeError, ValueError) as error:
            raise EngineGarbage(f"{self.wire.where('/tokenize')} gave no tokens") from error

    async def _know_bos(self) -> bool:
        """Whether the vocabulary puts a BOS in front of any prompt; asked once."""
        if self._adds_bos is None:
            plain = await self.wire.post_json("/tokenize", {"content": "a", "add_special": False})
            self._adds_bos = len(await self._tokenize("a")) > len(plain["tokens"])
        return self._adds_bos

    async def _lora(self, adapter: str | None) -> dict[str, Any]:
        """The body's part that chooses a LoRA adapter by its file's name."""
        if adapter is None:
            return {}
        loaded = await self.wire.get_json("/lora-adapters")
        for entry in loaded:
            if adapter in (entry.get("path"), PurePath(entry.get("path", "")).stem):
                return {"lora": [{"id": entry["id"], "scale": 1.0}]}
        raise EngineRejected(f"the engine at {self.url} has no adapter {adapter!r}", "start it with --lora FILE")
