"""Traces without text that name the prefix blocks of each request: what Mooncake's and Bailian's have in common."""

from __future__ import annotations

from typing import Any

import msgspec

from preheat.read.openai_odd import decode_object
from preheat.read.scalars import Count
from preheat.read.unreadable import Unreadable

_LARGEST_BLOCK = 1 << 20
_ID = "block ids that are not whole numbers"


class Traced(msgspec.Struct):
    """One request of such a trace, of either kind."""

    hash_ids: tuple[int, ...]
    timestamp: float | None = None
    input_length: Count | None = None
    output_length: Count | None = None
    chat_id: int | str | None = None
    parent_chat_id: int | str | None = None
    turn: Count | None = None
    type: str | None = None
    session_id: int | str | None = None


_decode = msgspec.json.Decoder(Traced).decode


def traced(record: bytes) -> Traced:
    """Raises :class:`Unreadable` for anything else."""
    try:
        return _decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = decode_object(record)
    ids = found.get("hash_ids")
    if not isinstance(ids, list):
        raise Unreadable("no block ids")
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in ids):
        raise Unreadable(_ID)
    raise Unreadable("a length, time or turn that is no number")


def block_tokens(of: Traced, usual: int) -> int | None:
    """How many tokens a block has: the usual number where the length agrees, else the power of two that does.

    The last block may be partly filled, or (where only full blocks are named) the last tokens have no id.
    """
    count, length = len(of.hash_ids), of.input_length
    if not count or length is None or _fits(usual, count, length):
        return usual
    sizes = [1 << power for power in range(_LARGEST_BLOCK.bit_length()) if _fits(1 << power, count, length)]
    return sizes[0] if len(sizes) == 1 else None


def _fits(size: int, count: int, length: int) -> bool:
    return (count - 1) * size < length < (count + 1) * size


def name_of(value: Any) -> str | None:
    """An id as text; ``-1`` is how such traces write that there is none."""
    return None if value is None or value in (-1, "-1", "") else str(value)
