"""The protocol that every engine adapter fulfils, and the table of adapters.

An adapter turns one engine's wire into these few calls. It raises :class:`preheat.errors.EngineFault` and its
kin, never a client library's exception, and never puts a key into a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Request
from preheat.records.target import EngineInfo


class Prefill(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's word on one prefilled prompt.

    ``prompt_tokens`` as the engine counted them; ``cached_tokens`` of them came from its cache (``None``: it does
    not say); ``prompt_ms`` its own prompt-processing time; ``wall_ms`` ours, request to reply.
    """

    prompt_tokens: int
    cached_tokens: int | None
    prompt_ms: float | None
    wall_ms: float


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """One streamed generation. Times in ms from the moment of sending; ``token_times_ms`` one per received chunk.

    ``prompt_ms`` and ``decode_ms`` are the engine's own words, ``None`` where it does not say.
    """

    ttft_ms: float
    total_ms: float
    token_times_ms: list[float]
    output_tokens: int
    prompt_tokens: int | None
    cached_tokens: int | None
    prompt_ms: float | None = None
    decode_ms: float | None = None
    finish_reason: str | None = None


class Engine(Protocol):
    """One replica of an engine."""

    @property
    def url(self) -> str: ...

    async def describe(self) -> EngineInfo:
        """Ask the engine what it is. Raises :class:`EngineUnreachable` when nobody answers."""
        ...

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> list[list[int]] | None:
        """For each prefix, the ids of the tokens that every prompt beginning with it shares.

        The last characters of a prefix may merge with what follows; those tokens are left out. ``None`` where
        the engine has no tokenizer endpoint.
        """
        ...

    async def prefill(
        self,
        prefix: Prefix,
        token_ids: Sequence[int] | None,
        *,
        adapter: str | None = None,
        timeout_s: float = 120.0,
    ) -> Prefill:
        """Make the engine compute this prefix and keep it, generating as little as the engine allows.

        ``token_ids`` (from :meth:`shared_tokens`, cut to whole blocks plus one) are sent where the engine takes
        ids; else the prefix goes as text or messages.
        """
        ...

    async def generate(
        self, request: Request, *, max_tokens: int, namespace: str | None = None, timeout_s: float = 600.0
    ) -> Generation:
        """Serve one request of the log, streamed, as a client would.

        ``namespace`` keeps this traffic's cache entries apart from all other traffic (``cache_salt`` where the
        engine has it, else a nonce in front of the first message): one namespace used throughout a replay behaves
        as a cold replica. Raises :class:`ContextExceeded` for a prompt that does not fit.
        """
        ...

    async def counters(self) -> dict[str, float]:
        """The engine's own counters, by their Prometheus names, labels summed over; empty where it has none."""
        ...

    async def reset(self) -> bool:
        """Empty the prefix cache; ``False`` where the engine cannot or would not. Only ever called when asked for."""
        ...

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...


def rendering_of(info: EngineInfo) -> Rendering | None:
    """The engine's own chat template as a rendering, where it says it."""
    if info.chat_template is None:
        return None
    return Rendering(
        name=f"template of {info.model or info.kind}",
        source=info.url,
        template=info.chat_template,
        bos_token=info.bos_token,
        eos_token=info.eos_token,
    )
