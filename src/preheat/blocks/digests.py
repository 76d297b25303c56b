"""Names of blocks and prefixes: what remains of a prompt where its text is not kept.

A block's digest is 6 bytes: the last of the xxh3-64 of its UTF-8 text, or of its id in a trace of block ids. It only
has to tell blocks apart that follow the same prefix. A prefix's name is xxh3-64 over the digests of all its blocks, so
it neither depends on where a tree happens to split its edges nor needs the text.
"""

from __future__ import annotations

import xxhash

DIGEST_BYTES = 6
ID_CHARS = 12
"""A block id of a trace as text: hexadecimal digits, so that a trace is a prompt of blocks of 12 characters."""
_ID_MASK = (1 << 8 * DIGEST_BYTES) - 1


def text_digests(text: str, block_chars: int) -> bytes:
    """The digests of all blocks of ``text``, whose length is a multiple of ``block_chars``, joined."""
    digest = xxhash.xxh3_64_digest
    if text.isascii():
        data = text.encode()
        return b"".join([digest(data[at : at + block_chars])[2:] for at in range(0, len(data), block_chars)])
    return b"".join(
        [
            digest(text[at : at + block_chars].encode("utf-8", "surrogatepass"))[2:]
            for at in range(0, len(text), block_chars)
        ]
    )


def id_digests(text: str) -> bytes:
    """The digests of blocks written by :func:`ids_as_text`."""
    return bytes.fromhex(text)


def ids_as_text(ids: tuple[int, ...]) -> str:
    """A trace's block ids as a prompt of :data:`ID_CHARS` characters a block; of larger ids than 48 bits the lowest
    count."""
    return "".join([f"{number & _ID_MASK:012x}" for number in ids])


def prefix_name(digests: bytes, before: xxhash.xxh3_64 | None = None) -> xxhash.xxh3_64:
    """The running name of a prefix: that of the prefix ``before`` it, extended by the digests of an edge."""
    state = before.copy() if before is not None else xxhash.xxh3_64()
    state.update(digests)
    return state
