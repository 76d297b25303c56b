"""What each Unicode character is to a word: part of it, the end of it, or one alone."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

SPACE, LETTERS, UNSPACED, DIGITS, SYMBOL, JOINER, AT = range(7)
"""``UNSPACED`` are letters of scripts without spaces between words; joiners are symbols that keys, ids and addresses
are made with."""
WORDY = frozenset((LETTERS, UNSPACED, DIGITS))
LONGEST_WORD = 32
"""Letters; a longer run is no word: it is cut after as many, and at the end of an edge."""
LONGEST_NUMBER = 3
SEPARATOR = "\U0010ffff"
"""Between texts that are looked at together; no character, by Unicode's word."""
_WITHOUT_SPACES = (
    *((0x0E00, 0x0F00), (0x0F00, 0x1000), (0x1000, 0x10A0), (0x1780, 0x1800), (0x2E80, 0x2FE0), (0x3005, 0x3008)),
    *((0x3040, 0x3100), (0x31F0, 0x3200), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x40000)),
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Chinese and Japanese; Korean has spaces."""
_KIND_OF = {"L": LETTERS, "M": LETTERS, "Z": SPACE, "Cc": SPACE, "Cf": SPACE, "Nd": DIGITS}
_JOINERS = "_-+/=.%~"


@cache
def kinds_of_characters() -> NDArray[np.uint8]:
    """What each code point is, shape ``[0x110000]``."""
    categories = [unicodedata.category(chr(point)) for point in range(0x20000)]
    table = np.full(0x110000, SYMBOL, np.uint8)
    table[:0x20000] = [_KIND_OF.get(each[0], _KIND_OF.get(each, SYMBOL)) for each in categories]
    for first, end in _WITHOUT_SPACES:
        part = table[first:end]
        part[(part == LETTERS) if first < 0x20000 else slice(None)] = UNSPACED
    table[[ord(joiner) for joiner in _JOINERS]] = JOINER
    table[ord("@")] = AT
    table[ord(SEPARATOR)] = SPACE
    return table
