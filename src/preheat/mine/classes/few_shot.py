"""Few-shot: worked examples, question and answer, or a demonstration, before the task."""

from __future__ import annotations

from preheat.mine.classes.cues import Cues, literals, vocabulary
from preheat.mine.classes.reading import Reading, has_any

_QUESTIONS = vocabulary(
    "q question problem query input text sentence review example tweet comment source english word passage 问 "
    "问题 题目 输入 文本 句子 评论 原文 frage aufgabe eingabe satz bewertung beispiel pregunta problema entrada "
    "texto oración frase reseña ejemplo"
)
_ANSWERS = vocabulary(
    "a answer solution response output label sentiment class category summary translation intent type french "
    "german spanish chinese target result 答 答案 回答 解答 输出 标签 情感 类别 分类 译文 翻译 摘要 antwort "
    "lösung ausgabe stimmung kategorie übersetzung klasse respuesta solución salida etiqueta sentimiento "
    "categoría traducción"
)
_ONE_SHOT = literals("example|beispiel|ejemplo|示例|例如|样例|例子")
_SHOWN = Cues(
    en="here is a demonstration|--- demonstration ---|--- end of demonstration",
    zh="以下是一个示范",
    de="hier ist eine demonstration",
    es="aquí hay una demostración",
)
_ARROWS = ("=>", "->", "→", " // ")
MIN_PAIRS = 2
MIN_ARROWS = 3
LABEL_CHARS = 14


def holds(reading: Reading) -> bool:
    """By repeated pairs of labels, tagged examples, lines of ``this => that``, or the word for it."""
    if reading.system_says(_SHOWN) or reading.user_says(_SHOWN):
        return True
    return any(_shows(low) for low in (reading.system, *reading.asked[:2]) if low)


def _shows(low: str) -> bool:
    if "<example" in low and (low.count("<example") >= MIN_PAIRS and low.count("</example") >= MIN_PAIRS):
        return True
    if "\\n" in low:
        low = low.replace("\\n", "\n")
    lines = low.split("\n")
    if low.count(":") + low.count("：") >= 2 * MIN_PAIRS and _labelled(lines, low):
        return True
    return has_any(low, _ARROWS) and _arrows(lines)


def _labelled(lines: list[str], low: str) -> bool:
    """Whether labels of questions and answers alternate: two pairs or more, and a question or the word "example".

    A last answer left open is a question: it is not counted as a pair.
    """
    pairs, asked, questions = 0, False, 0
    for number, line in enumerate(lines):
        label = _label(line)
        if label in _QUESTIONS:
            asked, questions = True, questions + 1
        elif label in _ANSWERS and asked:
            answer = line.replace("：", ":", 1).partition(":")[2].strip(" *")
            if answer or any(lines[number + 1 : number + 3]):
                pairs, asked = pairs + 1, False
    if pairs > MIN_PAIRS:
        return True
    return pairs == MIN_PAIRS and (questions > pairs or has_any(low, _ONE_SHOT) or len(lines[-1]) < 60)


def _label(line: str) -> str:
    """What stands before the colon, without marks and numbers; empty where that is no label."""
    head = line[: LABEL_CHARS + 8].replace("：", ":", 1)
    place = head.find(":")
    return head[:place].strip(" \t*#>-[]()0123456789【】") if place >= 0 else ""


def _arrows(lines: list[str]) -> bool:
    """Short lines ``this => that``, one after the other, in a text that is not a program."""
    run = 0
    for line in lines:
        one = (
            3 < len(line) < 160
            and has_any(line[2:-2], _ARROWS)
            and not line.rstrip().endswith(("{", ";", ",", ")", ":"))
        )
        run = run + 1 if one else 0
        if run >= MIN_ARROWS:
            return True
    return False
