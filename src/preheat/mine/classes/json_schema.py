"""JSON of a given shape is demanded as the answer."""

from __future__ import annotations

import re

from preheat.mine.classes.reading import Reading, has_any

_VERB = (
    r"return|respond|reply|answer|output|outputs|provide|produce|generate|format|formatted|give|write|emit|create|"
    r"must be|should be|is only|conform|matches|match|follow|following|structure|structured|result|results|"
    r"返回|输出|回答|回复|生成|给出|格式|以|按|antworte|gib|ausgabe|liefere|erzeuge|responde|devuelve|genera|salida|formato|"
    r"réponds|renvoie|format de sortie"
)
_DEMAND = re.compile(
    rf"(?:(?:{_VERB})[^\n.。]{{0,60}}?(?<!\.)json(?!\s*(?:file|config|api|parser|server|document|dataset|data from))|"
    r"(?<!\.)json[ -]{0,2}(?:schema|object|array|format|only|output|response|blocks?|数组|对象|格式|字符串|"
    r"objekt|objeto))"
)
_SHAPE = re.compile(
    r"[{\[]\s*\\?[\"'“][\w -]{1,60}\\?[\"'”]\s*:|\"(?:type|properties|\$schema)\"\s*:|\{\s*\w{1,40}\s*[:=]\s*[\"<\[]"
)
_KEYS = re.compile(
    r"\b(?:keys?|fields?|properties|attributes|schema|schlüsseln?|feldern?|claves?|campos?|propiedades)\b|"
    r"键|字段|属性|结构"
)
_OUTPUT = re.compile(
    r"output_format\"?\s*:\s*\"[^\"\n]{0,80}json|answer_?format|output format:?\s{0,8}(?:```)?(?:json)?\s{0,8}\{|"
    r"输出格式"
)

_FORMATS = ("output_format", "answer_format", "answerformat", "output format", "输出格式")


def holds(reading: Reading) -> bool:
    """A demand for JSON, and keys, an example object or a schema to go with it; function definitions do not count."""
    return any(_demands(text) for text in (reading.system, *reading.asked))


def _demands(low: str) -> bool:
    if "json" in low and _DEMAND.search(low):
        return _SHAPE.search(low) is not None or _near_keys(low)
    return has_any(low, _FORMATS) and _OUTPUT.search(low) is not None and _SHAPE.search(low) is not None


def _near_keys(low: str) -> bool:
    """Whether keys are spoken of close to the demand."""
    spans = (match.span() for match in _DEMAND.finditer(low))
    return any(_KEYS.search(low, max(start - 80, 0), end + 200) is not None for start, end in spans)
