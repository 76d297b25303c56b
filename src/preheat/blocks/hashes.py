"""Names of KV blocks as vLLM gives them, so that what is said of a log can be compared with what an engine holds.

A block's name is a hash over canonical CBOR (RFC 8949, 4.2) of ``[name of the block before it, its token ids, extra
keys]``; before the first block stands the root, the hash of a seed. Taken from vLLM 0.32 (``v1/core/kv_cache_utils``,
``utils/hashing``). Its default algorithm pickles, which no other program can follow: it must run with
``--prefix-caching-hash-algo sha256_cbor`` (or ``xxhash_cbor``), and every process with the same ``PYTHONHASHSEED``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import xxhash

from preheat.errors import BadInput

UNSET_SEED = "vllm-none-hash"
"""What vLLM makes the root of where ``PYTHONHASHSEED`` is not set and the algorithm is cryptographic."""
ALGORITHMS: dict[str, Callable[[bytes], bytes]] = {
    "sha256_cbor": lambda data: hashlib.sha256(data).digest(),
    "xxhash_cbor": xxhash.xxh3_128_digest,
}


class Media(NamedTuple):
    """An image (or other input that is no text) in a prompt: where its placeholder tokens stand, and its name.

    ``identifier`` is vLLM's hash of it; ``offset`` and ``length`` are in tokens of the prompt.
    """

    identifier: str
    offset: int
    length: int


class Apart(NamedTuple):
    """What keeps a prompt's blocks apart from other prompts' with the same tokens.

    ``adapter`` is the name and the path of a LoRA adapter, both just as the engine was given them.
    """

    adapter: tuple[str, str] | None = None
    cache_salt: str | None = None
    media: tuple[Media, ...] = ()

    def keys(self, start: int, end: int) -> list[tuple[object, ...]] | None:
        """The extra keys of the block of tokens ``[start, end)``: the salt belongs to the first block only."""
        keys: list[tuple[object, ...]] = [("lora", *self.adapter)] if self.adapter else []
        keys += [
            ("mm", one.identifier, one.offset - start)
            for one in self.media
            if one.offset < end and one.offset + one.length > start
        ]
        if self.cache_salt and start == 0:
            keys.append(("cache_salt", self.cache_salt))
        return keys or None


def block_hashes(
    token_ids: Sequence[int],
    block_size: int,
    algorithm: str = "sha256_cbor",
    seed: str | None = None,
    apart: Apart | None = None,
) -> list[bytes]:
    """The names of a prompt's whole blocks of ``block_size`` tokens, first to last; a rest has no name.

    ``seed`` is the engine's ``PYTHONHASHSEED``; ``None`` where it is not set, which works with ``sha256_cbor`` only.
    Raises :class:`BadInput` for an unknown algorithm, a block size below 1, or no seed where there must be one.
    """
    import cbor2

    digest = ALGORITHMS.get(algorithm)
    if digest is None:
        raise BadInput(f"block hashes cannot be made by {algorithm!r}", f"choose one of: {', '.join(ALGORITHMS)}")
    if block_size < 1:
        raise BadInput(f"a block of {block_size} tokens holds nothing", "give the engine's own block size")
    if seed is None and algorithm != "sha256_cbor":
        raise BadInput(
            f"with {algorithm} the engine's root is random unless its seed is set",
            "start the engine with PYTHONHASHSEED set, and give the same seed here",
        )
    apart = apart or Apart()
    names: list[bytes] = []
    before = digest(cbor2.dumps(UNSET_SEED if seed is None else seed, canonical=True))
    for start in range(0, len(token_ids) - block_size + 1, block_size):
        end = start + block_size
        block = [before, token_ids[start:end], apart.keys(start, end)]
        before = digest(cbor2.dumps(block, canonical=True))
        names.append(before)
    return names


def event_hash(name: bytes) -> int:
    """A block's name as KV events carry it, unless ``VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES=0``: its last 64 bits."""
    return int.from_bytes(name[-8:], "big")
