"""What a run has made the engine compute itself, in whole cache blocks: that is not "already there"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Computed:
    """Blocks by the prefix that they end, per adapter; kept as chained hashes of this process."""

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self._blocks: set[int] = set()

    def add(self, ids: Sequence[int], adapter: str | None, from_tokens: int, to_tokens: int) -> None:
        """The engine computed the whole blocks of ``ids[:to_tokens]`` that begin at ``from_tokens`` or later."""
        names = list(self._names(ids[:to_tokens], adapter))
        self._blocks.update(names[from_tokens // self.block_tokens :])

    def holds(self, ids: Sequence[int], adapter: str | None, tokens: int) -> bool:
        """Whether the last whole block of ``ids[:tokens]`` was computed by this run."""
        return bool(self._blocks) and next(reversed([0, *self._names(ids[:tokens], adapter)])) in self._blocks

    def _names(self, ids: Sequence[int], adapter: str | None) -> Iterator[int]:
        name = hash(adapter)
        for end in range(self.block_tokens, len(ids) + 1, self.block_tokens):
            name = hash((name, *ids[end - self.block_tokens : end]))
            yield name
