"""Classification: the answer is one of given labels or options."""

from __future__ import annotations

import re

from preheat.mine.classes.cues import Cues, literals, vocabulary
from preheat.mine.classes.reading import Reading, has_any

_SAID = Cues(
    any="[[a]]|classe le|oui ou non|vrai ou faux|classifique|sim ou não|classifica il",
    en=(
        "classify|categorize the|categorise the|multiple choice question|multiple-choice question|yes or no|"
        "true or false|positive or negative|positive, negative|output true|output false|"
        "following categories|one of the following|given these categories|pick a category|possible labels|"
        "choose the correct|choose the best answer|select the correct|correct option|spam or not|sentiment of|"
        "sentiment analysis|detect if|detect whether|determine if|determine whether|decide if|decide whether|"
        "verify if|check if they|tell whether|identify if|identify whether|predict whether|tell if the|"
        "belongs to the|relevant to the search|determine the type|scale of 1 to 5|into one of|"
        "labels that apply|assign a label|set of labels|set of options"
    ),
    zh=(
        "分类|归类|选择题|单选题|多选题|从a，b，c，d|正确的选项|选项中选|下列选项|情感倾向|情感分析|正面或负面|"
        "正面、负面|哪一类|哪个类别|属于哪|输出true|是或否|“是”或“否”|对或错|以下选项之一|五个选项|所属类别|合乎道德"
    ),
    de=(
        "klassifiziere|kategorisiere|ordne den|ordne die|ordne das|ja oder nein|wahr oder falsch|"
        "positiv oder negativ|positiv, negativ|entscheide, ob|bestimme, ob|der folgenden kategorien|welche kategorie|"
        "welcher kategorie"
    ),
    es=(
        "clasifica|categoriza|sí o no|si o no|verdadero o falso|positivo o negativo|positivo, negativo|determina si|"
        "indica si|las siguientes categorías|qué categoría|opción correcta|elige la opción"
    ),
)
_LABELLED = Cues(
    any="[[a]]",
    en=(
        "classify the|classify each|classify user|one of the following categories|following categories:|"
        "one of the following labels|one of the following classes|one of the following options|labels that apply|"
        "tags applied|set of labels|label must be one of"
    ),
    zh="以下选项之一|选择题|分类为|归类为",
    de="der folgenden kategorien|klassifiziere",
    es="las siguientes categorías|clasifica",
)
"""In a system prompt, long and about much else, the labels themselves must be spoken of."""
_JUDGE_ZH = re.compile(
    r"(?:判断|检测|识别|检查|确定|预测|验证|分辨)[^。\n]{0,24}?(?:是否|是不是|还是|真假|真实|属于)|输出[^。\n]{0,20}[或否]|"
    r"(?:回答|输出)[“\"][^。\n]{0,12}或"
)
_HOW_ZH = re.compile(r"(?:如何|怎么|怎样)[^。\n]{0,14}(?:判断|检测|识别|检查|确定)")
_ANSWER = re.compile(
    r"\b(?:output|answer|reply|respond|return)\b[^.\n]{0,25}?[\"“'(\[][\w ]{1,40}[\"”')\]][^.\n]{0,12}"
    r"\b(?:or|and|oder|o)\b ?(?:with )?[\"“'(\[]|"
    r"\boutput (?:1|0|yes|no|true|false)\b"
)
_ANSWERING = vocabulary("output answer reply respond return")
_OPTIONS = ("(a)|(b)|(c)", "\na.|\nb.|\nc.", "\na)|\nb)|\nc)", "a．|b．|c．", "\na、|\nb、|\nc、", "\na:|\nb:|\nc:")


def holds(reading: Reading) -> bool:
    """By the demand for a label, or by options to choose from in the user's turn."""
    low = reading.demands
    if reading.user_says(_SAID) or reading.system_says(_LABELLED):
        return True
    if (not reading.demand_words.isdisjoint(_ANSWERING) and _ANSWER.search(low)) or (
        "zh" in reading.languages and _JUDGE_ZH.search(low) and not _HOW_ZH.search(low)
    ):
        return True
    return any(_lists_options(text) for text in reading.asked)


def _lists_options(low: str) -> bool:
    """Three options in order; two where they are called so."""
    if (
        has_any(low, ("options:\n", "options\n", "选项：\n", "optionen:\n", "opciones:\n"))
        and "(a)" in low
        and "(b)" in low
    ):
        return True
    for first, second, third in map(literals, _OPTIONS):
        place = low.find(first)
        if place >= 0 and 0 <= low.find(second, place) < low.find(third, place):
            return True
    return False
