"""From requests to the blocks that they ask for: rendered text in blocks of characters, or a trace's own ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from preheat.blocks.accesses import Accesses, AccessLog
from preheat.errors import BadInput
from preheat.prompts.render import PromptNotRenderable, Renderer
from preheat.records.profile import BLOCK_CHARS
from preheat.records.request import Request
from preheat.records.target import ASSUMED_CHARS_PER_TOKEN


@dataclass
class Asked:
    """``chars_per_token`` is the log's own where it tells prompts' tokens (``counted_tokens``), else assumed."""

    accesses: Accesses
    chars_per_token: float = ASSUMED_CHARS_PER_TOKEN
    counted_tokens: bool = False
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def tokens_per_block(self) -> float:
        """Exact for a trace of ids, else by the characters that a token has on average."""
        return self.accesses.units / (1.0 if self.accesses.in_tokens else self.chars_per_token)


def asked_blocks(
    requests: Iterable[Request],
    renderer: Renderer,
    block_chars: int = BLOCK_CHARS,
    keep: Callable[[Request], object] = id,
    *,
    partial: bool = False,
) -> Asked:
    """The blocks of all requests, each model and adapter apart; ``keep`` is told of each that counts, in order.

    The first request that has blocks decides whether the log is one of text or of ids; others are left out and
    counted, as are requests without either. ``partial``: see :class:`AccessLog`. Raises :class:`BadInput` where nothing
    is left.
    """
    collector = _Collector(renderer, block_chars, partial)
    for request in requests:
        if collector.add(request):
            keep(request)
    if collector.log is None:
        why = "; ".join(f"{count} x {reason}" for reason, count in collector.left_out.items())
        raise BadInput("no request has text or ids of blocks" + (f": {why}" if why else ""), "give a log of prompts")
    tokens, chars = collector.tokens, collector.chars
    counted = tokens > 0 and not collector.log.in_tokens
    return Asked(
        collector.log.finish(), chars / tokens if counted else ASSUMED_CHARS_PER_TOKEN, counted, collector.left_out
    )


class _Collector:
    def __init__(self, renderer: Renderer, block_chars: int, partial: bool) -> None:
        self.log: AccessLog | None = None
        self.left_out: dict[str, int] = {}
        self.tokens = self.chars = 0
        self._renderer = renderer
        self._block_chars = block_chars
        self._partial = partial

    def add(self, request: Request) -> bool:
        """Whether the request counts."""
        reason = self._ids(request) if request.blocks is not None else self._text(request)
        if reason:
            self.left_out[reason] = self.left_out.get(reason, 0) + 1
        return not reason

    def _ids(self, request: Request) -> str:
        if not request.block_tokens:
            return "ids of blocks whose size is not known"
        if self.log is None:
            self.log = AccessLog(request.block_tokens, in_tokens=True)
        if not self.log.in_tokens or self.log.units != request.block_tokens:
            return "blocks of another kind than the log's first"
        blocks = request.blocks or ()
        self.log.add_ids(blocks, (request.model, request.adapter), request.time_s, request.input_tokens)
        return ""

    def _text(self, request: Request) -> str:
        if not request.messages and request.prompt is None:
            return "neither text nor ids of blocks"
        if self.log is None:
            self.log = AccessLog(self._block_chars, partial=self._partial)
        if self.log.in_tokens:
            return "blocks of another kind than the log's first"
        try:
            prompt = self._renderer.render(request)
        except PromptNotRenderable:
            return "not renderable"
        self.log.add_text(prompt, (request.model, request.adapter), request.time_s)
        if request.input_tokens and not request.truncated:
            self.tokens += request.input_tokens
            self.chars += len(prompt)
        return ""
