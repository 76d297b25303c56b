"""What the rules of the classes look at: the instructions of a prompt, lower-cased and bounded, and its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from preheat.mine.classes.cues import Cues, vocabulary, words_of
from preheat.mine.classes.turns import SYSTEM, USER, Turn, turns

HEAD_CHARS, TAIL_CHARS = 4000, 1500
"""Of a longer text only this much of its beginning and its end is read: demands stand there, data between."""
DEMAND_HEAD_CHARS, DEMAND_TAIL_CHARS = 700, 500
"""Where, in a user's turn that brings data along, it says what to do with them."""
LANGUAGE_CHARS = 800
"""A text's script is told from this much of it."""
TURNS = 8
"""Of a longer conversation only the first user's turn and the last ones are read."""
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_GERMAN = vocabulary("der die das und ist ein eine einen nicht mit auf für den dem von zu wie oder sie ich du")
_SPANISH = vocabulary("el la los las de que un una y en es por para con del se su como lo al")


@dataclass(frozen=True)
class Reading:
    """A prompt as the rules see it; what is said is lower-cased and bounded."""

    turns: list[Turn]

    @cached_property
    def system(self) -> str:
        """What the system prompts say."""
        return "\n".join(bounded(turn.text) for turn in self.turns if turn.role == SYSTEM)[: HEAD_CHARS * 2].lower()

    @cached_property
    def asked(self) -> list[str]:
        """The user's turns: the first and the last few."""
        texts = [turn.text for turn in self.turns if turn.role == USER]
        if len(texts) > TURNS:
            texts = [texts[0], *texts[1 - TURNS :]]
        return [bounded(text).lower() for text in texts]

    @cached_property
    def demands(self) -> str:
        """Head and tail of each of the user's turns, a blank line between: all of a short turn."""
        return "\n\n".join(bounded(text, DEMAND_HEAD_CHARS, DEMAND_TAIL_CHARS) for text in self.asked)

    @cached_property
    def system_words(self) -> frozenset[str]:
        return frozenset(words_of(self.system))

    @cached_property
    def demand_words(self) -> frozenset[str]:
        return frozenset(words_of(self.demands))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Languages whose cues are worth looking for."""
        words = self.system_words | self.demand_words
        found = ["any", "en"]
        if any(not text.isascii() and _CJK.search(text[:LANGUAGE_CHARS]) for text in (self.demands, self.system)):
            found.append("zh")
        if len(words & _GERMAN) > 2:
            found.append("de")
        if len(words & _SPANISH) > 2:
            found.append("es")
        return tuple(found)

    def system_says(self, cues: Cues, head: int = HEAD_CHARS * 2, tail: int = 0) -> bool:
        """Whether head or tail of the system prompt has one of ``cues``."""
        return cues.found_in(bounded(self.system, head, tail), self.system_words, self.languages)

    def user_says(self, cues: Cues, text: str | None = None) -> bool:
        """Whether the user's demands, or ``text`` as a part of them, have one of ``cues``."""
        return cues.found_in(self.demands if text is None else text, self.demand_words, self.languages)


def bounded(text: str, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> str:
    """Head and tail of ``text``, if it is longer than both."""
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[len(text) - tail :]}"


def read(prompt: str) -> Reading:
    """Read a rendered prompt."""
    return Reading(turns(prompt))


def has_any(text: str, cues: tuple[str, ...]) -> bool:
    """Whether one of ``cues`` occurs in ``text``."""
    for cue in cues:  # noqa: SIM110 (a generator would cost more than the search)
        if cue in text:
            return True
    return False
