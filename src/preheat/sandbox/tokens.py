"""The sandbox's tokenizer: every few characters are one token, its id a stable hash of them."""

from __future__ import annotations

from collections.abc import Sequence

from xxhash import xxh32_intdigest, xxh64_hexdigest

_POSITIVE_INT32 = 0x7FFF_FFFF


def token_id(piece: str) -> int:
    """The id of one piece of text: the same in every process, on every machine."""
    return xxh32_intdigest(piece.encode("utf-8", "surrogatepass")) & _POSITIVE_INT32


def tokenize(text: str, chars_per_token: int) -> list[int]:
    """Token ids of ``text``; the last piece may be shorter than the others."""
    return [token_id(text[i : i + chars_per_token]) for i in range(0, len(text), chars_per_token)]


def shared_token_ids(text: str, chars_per_token: int) -> list[int]:
    """Ids of the tokens that every text beginning with ``text`` begins with: the whole pieces only."""
    return tokenize(text[: len(text) // chars_per_token * chars_per_token], chars_per_token)


def answer_piece(prompt_ids: Sequence[int], index: int, chars_per_token: int, seed: int) -> str:
    """Text of an answer's token number ``index``: a function of the prompt's end, the index and the seed."""
    digits = xxh64_hexdigest(f"{seed} {index} {list(prompt_ids[-8:])}".encode())
    word = " " + digits[: max(1, (chars_per_token - 1) % 17)]
    return word.ljust(chars_per_token, "x")[:chars_per_token]
