"""Literal cues by language, found without trying each: a cue is looked for only where one of its words occurs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import add

_IN_WORDS = b"abcdefghijklmnopqrstuvwxyz0123456789+#'"
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]{2,}")
_SPLIT = bytes(byte if byte in _IN_WORDS else 32 for byte in range(256))


def ascii_words(low: str) -> list[str]:
    """The words of lower-case ``low``; letters outside ASCII end a word, in texts as in cues."""
    return low.encode("utf-8", "surrogatepass").translate(_SPLIT).decode().split()


def words_of(low: str) -> list[str]:
    """:func:`ascii_words`, and of scripts without spaces every pair of neighbours."""
    words = ascii_words(low)
    if not low.isascii():
        for run in _UNSPACED.findall(low):
            words += map(add, run, run[1:])
    return words


def literals(joined: str) -> tuple[str, ...]:
    """The literals that ``|`` joins."""
    return tuple(joined.split("|"))


def vocabulary(words: str) -> frozenset[str]:
    """The words that spaces part."""
    return frozenset(words.split())


class Cues:
    """Literals, joined by ``|``, by language: ``en``, ``zh``, ``de``, ``es``; those of ``any`` are for every prompt.

    A cue waits for the longest of its words but the last, whose ending the text may go on, or for a pair of neighbours.
    """

    def __init__(self, **by_language: str) -> None:
        self._plain: dict[str, tuple[str, ...]] = {}
        self._waiting: dict[str, dict[str, tuple[str, ...]]] = {}
        self._words: dict[str, frozenset[str]] = {}
        for language, joined in by_language.items():
            waiting: dict[str, tuple[str, ...]] = {}
            plain: list[str] = []
            for cue in literals(joined):
                inner = words_of(cue)
                if cue[-1].encode() in _IN_WORDS:
                    inner.remove(re.split(r"[^a-z0-9+#']", cue)[-1])
                if inner:
                    word = max(inner, key=len)
                    waiting[word] = (*waiting.get(word, ()), cue)
                else:
                    plain.append(cue)
            self._plain[language], self._waiting[language] = tuple(plain), waiting
            self._words[language] = frozenset(waiting)

    def found_in(self, text: str, words: frozenset[str], languages: Iterable[str]) -> bool:
        """Whether lower-case ``text``, of which ``words`` are the words, has a cue of one of ``languages``."""
        for language in languages:
            for cue in self._plain.get(language, ()):
                if cue in text:
                    return True
            for word in self._words.get(language, frozenset()) & words:
                for cue in self._waiting[language][word]:
                    if cue in text:
                        return True
        return False
