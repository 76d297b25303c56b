"""Quantities: whether a text asks for one, and how many numbers it brings."""

from __future__ import annotations

import re

from preheat.mine.classes.cues import ascii_words, vocabulary

_FIGURE = re.compile(r"\d+(?:[.,/]\d+)*")
_NUMBER_WORDS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred half twice "
    "double triple thrice third quarter dozen dozens each zwei drei vier sechs sieben acht neun zehn halb "
    "doppelt dreimal dos tres cuatro cinco seis siete ocho nueve diez doce mitad doble"
)
_ASKING = vocabulary(
    "how what what's calculate compute find determine evaluate estimate solve wie wieviel wieviele berechne "
    "bestimme cu nto ntos ntas nta qu calcula calcular determina combien quanto quanti quantos quantas quante"
)
_NUMBER_ZH = re.compile(
    r"[一二两三四五六七八九十百千半](?=[个只本元米公厘千克人天小年分块支条张次辆箱副双名岁棵袋盒层斤吨升])"
)
_ASKS = re.compile(
    r"how (?:many|much|old|long|far|fast|tall|big|heavy|high|deep|wide|often|late)\b|"
    r"what (?:percent|percentage|fraction|portion|number|time|day|age|amount|speed)\b|"
    r"what(?:'s| is| was| are| were| will be| would be) (?:the|his|her|their|its|[a-z]{1,20}'s) (?:[\w'-]{1,20} ){0,4}?"
    r"(?:total|average|sum|difference|product|percentage|probability|area|volume|perimeter|length|cost|price|value|profit|ratio|median|mean|number|amount|distance|speed|age|weight|height|width|radius|loss|balance|"
    r"income|salary|score|remainder|rate|change|money)\b|"
    r"(?:calculate|compute|find|determine|evaluate|estimate|solve) "
    r"(?:the|for|how|its|their|his|her|all|x|each|f\(|what)\b|"
    r"wie ?viele?\b|wie (?:lange|alt|weit|hoch|groß|schwer|teuer)\b|berechne|bestimme\b|cuánt[oa]s?\b|"
    r"qué (?:porcentaje|fracción|distancia)\b|calcula|determina (?:el|la|cuánt)|combien\b|quant[oia]s?\b"
)
_ASKS_ZH = re.compile(
    r"多少|几(?=[个只本元米公厘千克人天小年分块支条张次辆箱副双名岁棵袋盒层斤吨升倍种页])|"
    r"百分之几|几分之几|求[出解其函数它这该]|平均|等于"
)


def is_quantity(low: str) -> bool:
    """Whether lower-case ``low`` asks for a quantity."""
    if not _ASKING.isdisjoint(ascii_words(low)) and _ASKS.search(low):
        return True
    return not low.isascii() and _ASKS_ZH.search(low) is not None


def numbers(low: str) -> int:
    """How many numbers stand in ``low``: figures, and different number words."""
    written = 0 if low.isascii() else len(_NUMBER_ZH.findall(low))
    return len(_FIGURE.findall(low)) + len(_NUMBER_WORDS.intersection(ascii_words(low))) + written
