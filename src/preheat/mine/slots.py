"""What stands in a template's variable place: a number, a date, a name, a passage..."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preheat.records.profile import Slot

_DATE = r"\d{4}[-/.年]\d{1,2}([-/.月]\d{1,2}日?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}\.? [A-Za-zäéû]{3,9}\.? \d{4}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s?([AaPp]\.?[Mm]\.?)?(Z|[+-]\d{2}:?\d{2})?"
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("date", re.compile(rf"(({_DATE})([T ,]+({_TIME}))?|{_TIME})( [A-Z]{{2,4}})?|[A-Za-z]{{3,9}} \d{{1,2}}, \d{{4}}")),
    ("number", re.compile(r"[-+]?[$€£¥]?\d[\d,.]*\s?(%|[A-Za-z]{1,3})?")),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+")),
    ("url", re.compile(r"[a-z][a-z0-9+.-]*://\S+|www\.\S+|(/[\w.-]+){2,}/?")),
    ("id", re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=\S*\d)[A-Za-z0-9][A-Za-z0-9_#:-]{3,63}")),
    ("json", re.compile(r"[\[{].*[\]}]?", re.DOTALL)),
)
_CODE = re.compile(
    r"```|^\s*(def|class|import|from|return|public|private|static|function|const|let|var|#include|SELECT|if|for)\b.*"
    r"[:;{(]|[;{}]\s*$|=>|\bself\.|::",
    re.MULTILINE,
)
_NAME = re.compile(r"([A-ZÀ-Ý][\w'’.-]*)( [A-ZÀ-Ý][\w'’.-]*){0,3}")
_CJK = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
_ENDS = re.compile(r"[.!?。！？](\s|\Z)|[。！？]|\n\s*\n")
_TURN = re.compile(r"<\|im_start\|>|<\|start_header_id\|>|\[/INST\]|<start_of_turn>|<\|turn>|<\|(user|assistant)\|>")


def slot(values: Sequence[str]) -> Slot:
    """The slot in which ``values`` stand: the kind that most of the non-empty ones are of."""
    present = [value.strip().strip("\"'“”‘’,;。") for value in values if value.strip()]
    kinds = [_kind(value) for value in present]
    kind = max(dict.fromkeys(kinds), key=kinds.count) if kinds else "empty"
    return Slot(kind=kind, distinct=len(set(values)), mean_chars=round(sum(map(len, values)) / max(1, len(values)), 1))


def _kind(value: str) -> str:
    if _TURN.search(value):
        return "conversation"
    for kind, pattern in _KINDS:
        if pattern.fullmatch(value):
            return kind
    if _CODE.search(value):
        return "code"
    wide = len(_CJK.findall(value))
    if len(value) > 280 or len(_ENDS.findall(value)) > 2 or wide > 90:
        return "passage"
    if _NAME.fullmatch(value):
        return "name"
    return "word" if (wide <= 4 if wide else len(value.split()) <= 1) else "sentence"
