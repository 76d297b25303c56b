"""All that can be set on the sandbox engine, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from preheat.errors import BadInput
from preheat.records.target import ASSUMED_PREFILL_MS_PER_TOKEN


@dataclass(frozen=True, kw_only=True)
class SandboxSettings:
    """A mocked engine: its size, its timing, its faults. Lengths in tokens or blocks, times in milliseconds.

    The time to the first token of a prompt is: waiting for a free place, then for the compute unit, then
    ``prefill_fixed_ms + uncached tokens * prefill_ms_per_token``, then ``first_token_ms``.
    Raises :class:`BadInput` for values that make no engine.
    """

    model: str = "sandbox"
    """The served model's name."""
    adapters: tuple[str, ...] = ()
    """Names of LoRA adapters; each is served as a model of its own and shares no cache entries."""
    context_tokens: int = 32_768
    """Prompt and answer together; never more than what the cache holds (see :attr:`max_model_len`)."""
    api_key: str | None = None
    """Where set, requests to ``/v1`` without this bearer token get a 401."""

    block_tokens: int = 16
    """Tokens of one cache block: the granularity of sharing, reporting and eviction."""
    capacity_blocks: int = 4096
    """Blocks of the KV cache, for running requests and kept prefixes together."""
    chars_per_token: int = 4
    """Characters of rendered prompt that make one token."""

    prefill_ms_per_token: float = ASSUMED_PREFILL_MS_PER_TOKEN
    """Compute time of one prompt token that is not cached."""
    prefill_fixed_ms: float = 0.0
    """Compute time of any prompt, whatever its length."""
    first_token_ms: float = 0.0
    """Delay from the end of the prefill to the first token; does not occupy the compute unit."""
    token_interval_ms: float = 20.0
    """From one token of an answer to the next."""
    jitter_ms: float = 0.0
    """Standard deviation of ``first_token_ms`` and of each interval (normal, cut at zero); 0: none."""
    answer_tokens: int = 16
    """Length of the answer where the caller sets no limit. With a limit, exactly that many tokens come."""

    max_running: int = 256
    """Requests worked on at once; others wait, first come first served."""
    queue_limit: int | None = None
    """Requests that may wait; beyond it 503. ``None``: no limit."""
    report_cached: bool = True
    """Whether replies tell the cached tokens (vLLM: ``--enable-prompt-tokens-details``)."""
    seed: int = 0
    """Of the injected errors, the jitter and the answers' text."""

    error_rate: float = 0.0
    """Share of requests answered with a 500."""
    refuse_after: int | None = None
    """From this many requests on, connections are closed without an answer."""
    hang: bool = False
    """Take requests and never answer."""
    die_half_way: bool = False
    """Break the connection after half of the answer's tokens."""
    garbage: bool = False
    """Answer 200 with something that is not the protocol."""

    def __post_init__(self) -> None:
        for name in ("block_tokens", "capacity_blocks", "chars_per_token", "max_running", "answer_tokens"):
            if getattr(self, name) < 1:
                raise BadInput(f"sandbox setting {name} is {getattr(self, name)}", "it must be at least 1")
        if self.context_tokens < 2:
            raise BadInput("sandbox setting context_tokens is below 2", "leave room for a prompt and an answer")
        for name in ("prefill_ms_per_token", "prefill_fixed_ms", "first_token_ms", "token_interval_ms", "jitter_ms"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise BadInput(f"sandbox setting {name} is {getattr(self, name)}", "times are finite and not negative")
        if not 0 <= self.error_rate <= 1:
            raise BadInput(f"sandbox setting error_rate is {self.error_rate}", "it is a share between 0 and 1")

    @property
    def capacity_tokens(self) -> int:
        """Token positions that the cache holds."""
        return self.capacity_blocks * self.block_tokens

    @property
    def max_model_len(self) -> int:
        """Longest prompt and answer together, in tokens: the context, or the cache where that is smaller."""
        return min(self.context_tokens, self.capacity_tokens)
