"""RAG: a passage, document or transcript is given, and the answer is to come from it."""

from __future__ import annotations

import re

from preheat.mine.classes import few_shot
from preheat.mine.classes.cues import Cues, literals, vocabulary
from preheat.mine.classes.quantities import is_quantity, numbers
from preheat.mine.classes.reading import Reading, bounded, has_any

_SAID = Cues(
    any="<documents>|<document|<context>|<passage|d'après le texte|selon le texte|segundo o texto|secondo il testo",
    en=(
        "given passage|following passage|passage below|below passage|following context|context below|"
        "pieces of context|context information|provided context|given context|context provided|above text|"
        "based on the text|based on the article|following document|documents below|provided document|retrieved|"
        "search results|based on the story|based on the passage|based on the context|based on the document|"
        "based on the above|based on the information|based on the provided|according to the passage|"
        "according to the text|according to the article|according to the document|using only the|paragraph below|"
        "following paragraph|information provided in the|given a story|following records|following text|"
        "read the passage|read the article|extract the|extract all|from the paragraph|from the text|in the paragraph|"
        "mentioned in the|following article"
    ),
    zh=(
        "段落文字|给出的文本|根据以下|根据下面|根据下列|根据上述|根据上文|根据文章|根据段落|根据文本|根据材料|"
        "根据给定|根据所给|根据提供|阅读以下|阅读下面|阅读下列|阅读理解|文本阅读|阅读材料|读一段|从以下|从文章中|"
        "从文本中|从段落|从下面|以下文本中|文本中|文章中|文中|提取段落|已知信息|参考资料|参考以下|检索到|上下文|"
        "哪个段落|以上信息|以上对话|以上内容|上述内容|这段对话|这段文字|一段对话|抽取|提取|以下段落"
    ),
    de=(
        "anhand des|anhand der|auf grundlage|auf basis des|folgenden text|folgende text|folgenden kontext|"
        "folgenden abschnitt|laut text|laut dem text|im text|dem obigen text|den textabschnitt"
    ),
    es=(
        "según el texto|según el pasaje|según el artículo|según el documento|basándote en|basado en el|basándose en|"
        "siguiente texto|siguiente contexto|siguiente pasaje|en el texto|a partir del texto"
    ),
)
_LABELS = vocabulary(
    "context passage passages document documents story article report text paragraph source evidence content "
    "kontext dokument dokumente abschnitt artikel contexto pasaje documento documentos artículo texto contexte "
    "上下文 文档 文章 段落 材料 资料 背景 原文 文章内容 已知 已知信息 参考资料"
)
_QUESTION = re.compile(
    r"[?？]|\b(?:question|query|answer|extract|find|identify|list|frage|beantworte|pregunta|responde|contesta|complete|what|who|which|when|where|how|why)\b|"
    r"回答|问题|提取|抽取|请问|确定|判断"
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_SUMMARY = re.compile(
    r"\b(?:summari[sz]e|paraphrase|translate|rewrite)\b|总结|翻译|改写|标题|\bfass(?:e|en)\b|übersetz|resum[ei]|traduc"
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|our|ich|mein|wir|mi|yo|nuestro)\b|我")
_ASKS = re.compile(
    r"[?？]|\b(?:what|who|whom|whose|which|when|where|why|how|was|wer|wen|wem|wie|wann|wo|woher|wohin|welche[rsmn]?|warum|"
    r"qué|quién|quiénes|cuándo|cuánt[oa]s?|dónde|cómo|cuál|cuáles|name)\b|什么|谁|哪|何|多少|几|吗|怎么|怎样|是否"
)
_ENDS = literals(". |。|! |?|！|？|\n")
_CJK = re.compile(r"[぀-ヿ㐀-鿿]")
PASSAGE_CHARS, CJK_PASSAGE_CHARS = 280, 100
"""A shorter text is a question with its circumstances, not a passage."""
QUESTION_CHARS = 260
LABEL_CHARS = 40
"""What may still follow the question: ``Answer:``."""
_QUESTIONED = ("question:", "问题：", "问题:", "哪一段")
SPEAKERS = 3
CHARS_A_PERSON = 150
"""A text that says "I" as often as this tells of its writer; a transcript may."""
PROBLEM_CHARS, CHARS_A_NUMBER = 900, 130
"""A shorter text with so many numbers, and a quantity asked for, is a word problem."""
OVERLAP = 0.3
"""Share of the question's longer words that must stand in the passage where nothing else tells."""


def holds(reading: Reading) -> bool:
    """A passage together with words that point to it, or with a question at its end that shares its words."""
    if any(brings_passage(reading, low) for low in {*reading.asked[-2:], *reading.asked[:1]}):
        return True
    system = reading.system
    return len(system) > PASSAGE_CHARS and reading.system_says(_SAID) and _labels_passage(system)


def brings_passage(reading: Reading, low: str) -> bool:
    """Whether a user's turn holds a passage and a question about it."""
    cjk = len(_CJK.findall(low[:300])) > 40 or len(_CJK.findall(low[-300:])) > 40
    least = CJK_PASSAGE_CHARS if cjk else PASSAGE_CHARS
    if len(low) < least or not _is_prose(low):
        return False
    near = bounded(low, 500, 500)
    asks = _QUESTION.search(near) is not None
    if asks and _labels_passage(low):
        return True
    if asks and reading.user_says(_SAID, near):
        return (not _summarises(low) or has_any(near, _QUESTIONED)) and not few_shot.holds(reading)
    return _question_at_end(low, int(least * 1.2), cjk) and not few_shot.holds(reading)


def _labels_passage(low: str) -> bool:
    """Whether a line ``Context: ...`` (or what else it is called) brings a passage, there or on the next line."""
    lines = low.split("\n")
    for number, line in enumerate(lines):
        head = line[:24].replace("：", ":", 1).partition(":")
        if head[1] and head[0].strip(" \t#*[<(>)]-_0123456789") in _LABELS:
            body = line if len(line) > 100 else "".join(lines[number : number + 6])
            if len(body) > PASSAGE_CHARS or len(_CJK.findall(body)) > CJK_PASSAGE_CHARS:
                return not _summarises(low)
    return False


def _is_prose(low: str) -> bool:
    """Sentences rather than code or a list of rules."""
    signs = (
        low.count("{") + low.count('":') + low.count(";") + low.count(" = ") + low.count("</") + low.count("\n- ") * 3
    )
    return signs * 90 < len(low)


def _longest_run(low: str) -> int:
    """Characters of the longest paragraph."""
    return max(map(len, low.split("\n")))


def _summarises(low: str) -> bool:
    """Whether the text is to be summed up, translated or rewritten."""
    return _SUMMARY.search(bounded(low, 160, 60)) is not None


def _transcript(low: str) -> bool:
    """Whether lines begin with who speaks."""
    return sum(":" in line[:16] or "：" in line[:8] for line in low.split("\n")) >= SPEAKERS


def _tells_of_its_writer(low: str) -> bool:
    """Whether it often says "I"."""
    return len(_FIRST_PERSON.findall(low)) * CHARS_A_PERSON > len(low)


def _offers(tail: str) -> bool:
    """Whether options stand at the end."""
    return "options:" in tail or ("b." in tail and "c." in tail) or "(b)" in tail


def _question_at_end(low: str, least: int, cjk: bool) -> bool:
    """A paragraph of a passage's length, and after it a short question some of whose words stand in it.

    It must not speak in the first person (that is somebody's own story), nor be as full of numbers as a word problem.
    """
    body = low.rstrip()
    cut = max(body.rfind(end, 0, -2) for end in _ENDS)
    if body.endswith((":", "：")) and len(body) - cut <= LABEL_CHARS:
        body = body[: cut + 1].rstrip()
        cut = max(body.rfind(end, 0, -2) for end in _ENDS)
    question, passage = body[cut + 1 :].strip(), body[: cut + 1]
    if len(passage) < least or not 4 <= len(question) <= QUESTION_CHARS:
        return False
    if not _ASKS.search(question) or _offers(low[-400:]):
        return False
    if not _transcript(passage) and (_longest_run(passage) < least * 0.7 or _tells_of_its_writer(passage[:1500])):
        return False
    if len(passage) < PROBLEM_CHARS and is_quantity(question) and numbers(passage) * CHARS_A_NUMBER > len(passage):
        return False
    if cjk:
        grams = {question[at : at + 2] for at in range(len(question) - 1)}
        return bool(grams) and sum(gram in passage for gram in grams) >= OVERLAP * len(grams)
    words = set(_WORD.findall(question))
    return len(words) >= 2 and sum(word in passage for word in words) >= OVERLAP * len(words)
