"""Multi-hop: reasoning in steps is demanded, or the problem takes several: word problems, equations, proofs."""

from __future__ import annotations

import re

from preheat.mine.classes.cues import Cues, ascii_words, vocabulary
from preheat.mine.classes.quantities import is_quantity, numbers
from preheat.mine.classes.rag import brings_passage
from preheat.mine.classes.reading import Reading, bounded, has_any

_SAID = Cues(
    any="étape par étape|passo a passo|passo dopo passo|шаг за шагом",
    en=(
        "let's think|think step|reason step|chain of thought|chain-of-thought|intermediate steps|reasoning steps|"
        "show your work|show your reasoning|explain your reasoning|step-by-step reasoning|"
        "reader through your reasoning|think through|logic puzzle|logic problem|math puzzle|multi-step|multi-hop|"
        "write out the calculation|math problem|solve this equation|solve the equation|prove that|prove the|prove by"
    ),
    zh=(
        "一步一步|一步步思考|一步步推理|逐步思考|逐步推理|逐步分析|分步骤思考|推理步骤|推理过程|思考过程|解题步骤|"
        "解题过程|计算过程|中间步骤|数学问题|请证明|试证明|求证|解方程|逻辑推理"
    ),
    de="schritt für schritt|rechenweg|lösungsweg|beweise, dass|zwischenschritte|löse die gleichung",
    es="paso a paso|razona|pasos intermedios|demuestra que|demuestre que|resuelve la ecuación",
)
_STEPS = re.compile(
    r"(?:think|thinking|reason|solve|work|explain|analy[sz]e|calculate|deduce|answer|logic)[^.\n]{0,40}"
    r"step[ -]by[ -]step"
)
_GUIDE = re.compile(
    r"(?:schritt für schritt|paso a paso|一步一步)[- ]?(?:anleitung|guía|instruc|教程|指南|教你|地?教我)|"
    r"guía paso a paso"
)
_EQUATION = re.compile(
    r"(?:solve|value of|roots? of|solution of|inequality|equation|integrate|derivative)[^\n]{0,80}[=<>+^*/-]|"
    r"[a-z]\^\d|\\frac|\d\s*[a-z]\s*[+-]\s*\d+\s*=|\([0-9-]+ *[-+*] *[0-9(-]"
)
_GEOMETRY = vocabulary(
    "vertices triangle endpoints segment radius slope probability annuity compounded permutations combinations "
    "intersect integers divisible cagr"
)
_KIN_WORDS = vocabulary(
    "father mother brother brothers sister sisters son daughter taller older younger faster heavier full empty"
)
_KIN = re.compile(
    r"\b(?:father|mother|brothers?|sisters?|son|daughter|taller|older|younger|faster|heavier) (?:of|than)\b|"
    r"\bif [^.?\n]{3,80}, (?:then|so) |\bis [a-z]{1,20}'s (?:mother|father|sister|brother|son|daughter|grand)|"
    r"has (?:\w+ ){1,2}(?:brothers?|sisters?)"
)
PARAGRAPH_CHARS = 60
MAX_CHARS = 1800
"""A longer turn is no word problem, whatever numbers and questions it holds."""


def holds(reading: Reading) -> bool:
    """By the demand, in the instructions; or by a problem among the user's turns."""
    for low, words in (
        (bounded(reading.system, 3000, 1000), reading.system_words),
        (reading.demands, reading.demand_words),
    ):
        if _SAID.found_in(low, words, reading.languages):
            rest = _GUIDE.sub("", low)
            if rest == low or _SAID.found_in(rest, words, reading.languages):
                return True
        if ("step by step" in low or "step-by-step" in low) and _STEPS.search(low):
            return True
    return any(is_problem(each) and not brings_passage(reading, low) for low in reading.asked for each in _parts(low))


def _parts(low: str) -> tuple[str, ...]:
    """A user's turn; and its last paragraph, where instructions stand before the problem."""
    last = low.rpartition("\n\n")
    return (low, last[2]) if last[0] and len(last[2]) > PARAGRAPH_CHARS else (low,)


def is_problem(low: str) -> bool:
    """Numbers enough and a quantity asked for; an equation to solve; relations to follow to their end."""
    if not 8 <= len(low) <= MAX_CHARS or "```" in low:
        return False
    asks = is_quantity(bounded(low, 250, 350))
    if asks and numbers(low) >= 2:
        return True
    words = frozenset(ascii_words(low))
    solid = not words.isdisjoint(_GEOMETRY)
    solve = has_any(low, ("solve", "解", "löse", "resuelve", "value of"))
    if (asks or solid or solve) and has_any(low, ("=", "^", "\\frac", "+", "|")) and _EQUATION.search(low):
        return True
    if asks and solid:
        return True
    return not words.isdisjoint(_KIN_WORDS) and len(_KIN.findall(low)) >= 2
