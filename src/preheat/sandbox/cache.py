"""The sandbox's prefix cache: vLLM's scheme of chained blocks, reference counts and least-recently-used eviction.

A block is named by the hash of its tokens and its parent's name, so that a name stands for a whole prefix.
Blocks that a running request holds are never evicted. A request gives its blocks back deepest first, and the block
given back longest ago goes first: a block never outlives its parent.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from xxhash import xxh3_128_digest


def chain_of(
    token_ids: Sequence[int], block_tokens: int, *, adapter: str | None = None, cache_salt: str | None = None
) -> list[bytes]:
    """Names of the whole blocks of a prompt, first to last; adapter and salt are part of the root."""
    parent = xxh3_128_digest(repr((adapter, cache_salt)).encode("utf-8", "surrogatepass"))
    chain = []
    for start in range(0, len(token_ids) - block_tokens + 1, block_tokens):
        parent = xxh3_128_digest(parent + array("q", token_ids[start : start + block_tokens]).tobytes())
        chain.append(parent)
    return chain


@dataclass(eq=False)
class Lease:
    """The blocks that one running request holds.

    ``held`` are names of visible blocks, a prefix of the request's chain; ``private_blocks`` more are reserved and
    not visible to others; ``hit_blocks`` of the held ones were there before the request came.
    """

    hit_blocks: int
    held: list[bytes]
    private_blocks: int
    open: bool = field(default=True)


class PrefixCache:
    """Which prefixes are resident, in whole blocks. Not thread-safe: one event loop owns it."""

    def __init__(self, capacity_blocks: int, block_tokens: int) -> None:
        self.capacity_blocks = capacity_blocks
        self.block_tokens = block_tokens
        self._pins: dict[bytes, int] = {}
        self._idle: dict[bytes, None] = {}  # visible and held by nobody; the first goes first
        self._private_blocks = 0

    @property
    def visible_blocks(self) -> int:
        """Blocks that a lookup can find."""
        return len(self._pins)

    @property
    def used_blocks(self) -> int:
        """Blocks that running requests hold: not evictable."""
        return len(self._pins) - len(self._idle) + self._private_blocks

    @property
    def allocated_blocks(self) -> int:
        """Visible and private blocks together; never above the capacity."""
        return len(self._pins) + self._private_blocks

    def lookup(self, chain: Sequence[bytes], prompt_tokens: int) -> int:
        """How many leading blocks of ``chain`` a prompt of ``prompt_tokens`` would find; touches nothing.

        The last token is always computed, so a prompt of exactly k resident blocks finds k - 1.
        """
        most = max(0, prompt_tokens - 1) // self.block_tokens
        for hits, name in enumerate(chain[:most]):
            if name not in self._pins:
                return hits
        return min(most, len(chain))

    def acquire(self, chain: Sequence[bytes], prompt_tokens: int, total_tokens: int) -> Lease | None:
        """Hold the blocks found for a prompt and reserve those it still needs for ``total_tokens`` positions.

        ``None``, and nothing changed, where running requests hold too much.
        """
        hits = list(chain[: self.lookup(chain, prompt_tokens)])
        needed = max(0, -(-total_tokens // self.block_tokens) - len(hits))
        evictable = len(self._idle) - sum(name in self._idle for name in hits)
        if needed > self.capacity_blocks - self.allocated_blocks + evictable:
            return None
        for name in hits:
            self._pin(name)
        for _ in range(self.allocated_blocks + needed - self.capacity_blocks):
            self._evict_one()
        self._private_blocks += needed
        return Lease(len(hits), hits, needed)

    def publish(self, lease: Lease, chain: Sequence[bytes]) -> None:
        """The blocks of ``chain`` are computed: others may find them from now on.

        A block that someone else published meanwhile is held in place of the own copy.
        """
        for name in chain[len(lease.held) :]:
            if lease.private_blocks == 0:
                return
            lease.private_blocks -= 1
            self._private_blocks -= 1
            lease.held.append(name)
            self._pin(name)

    def release(self, lease: Lease) -> None:
        """Give all blocks of a request back, the deepest first. Safe to call twice."""
        if not lease.open:
            return
        lease.open = False
        self._private_blocks -= lease.private_blocks
        for name in reversed(lease.held):
            self._pins[name] -= 1
            if self._pins[name] == 0:
                self._idle[name] = None

    def reset(self) -> bool:
        """Forget all prefixes; ``False``, and nothing changed, while requests are running (as vLLM)."""
        if self.used_blocks:
            return False
        self._pins.clear()
        self._idle.clear()
        return True

    def eviction_order(self) -> list[bytes]:
        """Names of the evictable blocks, the next to go first."""
        return list(self._idle)

    def resident(self) -> set[bytes]:
        """Names of all visible blocks."""
        return set(self._pins)

    def _pin(self, name: bytes) -> None:
        self._pins[name] = self._pins.get(name, 0) + 1
        self._idle.pop(name, None)

    def _evict_one(self) -> None:
        name = next(iter(self._idle))
        del self._idle[name]
        del self._pins[name]
