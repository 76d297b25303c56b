"""The sandbox's tokenizer: every few characters are one token, its id a stable hash of them."""

from __future__ import annotations

from array import array
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


class AnswerText:
    """The text of an answer, piece by piece: a function of the prompt's end and the seed."""

    def __init__(self, prompt_ids: Sequence[int], chars_per_token: int, seed: int) -> None:
        self._key = array("q", prompt_ids[-8:]).tobytes()
        self._chars = chars_per_token
        self._seed = seed

    def piece(self, index: int) -> str:
        """Text of token number ``index``, as long as every token's."""
        digits = xxh64_hexdigest(b"%d %s" % (index, self._key), self._seed & 0xFFFF_FFFF)
        return f" {digits[: self._chars - 1]}".ljust(self._chars, "x") if self._chars > 1 else digits[0]
