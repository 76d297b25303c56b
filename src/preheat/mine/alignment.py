"""What several prompts of one template have in common, and what stands in the places where they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from preheat.mine.slots import slot
from preheat.records.profile import Slot

_SENTENCE = re.compile(r"[^\n.!?。！？]*[\n.!?。！？]+\s*|[^\n.!?。！？]+\Z")
_TOKEN = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]|[^\s\u2e80-\u9fff\uac00-\ud7af]+|\s+")
_WORD = re.compile(r"[^\W\d_\u2e80-\u9fff\uac00-\ud7af]+|\d+|[^\s\w]|[\u2e80-\u9fff\uac00-\ud7af]")
_GRAM, _PHRASE_CHARS = 5, 4_000
_TOKENS = 120
"""Places with at most so many tokens are aligned word by word."""
_LEAST = 8
"""Bytes of text in a sentence, beginning from which it can be constant by design."""


def align(prompts: Sequence[str]) -> tuple[str, tuple[Slot, ...]]:
    """The template of ``prompts``, variable places as ``{1}``, ``{2}``..., and what stands in them.

    Constant is what all prompts have, in the same order: their common beginning and end, whole sentences and lines
    that each has exactly once, and, between those, words where the gap is short. Braces stay as they are.
    """
    pieces = _aligned(list(prompts))
    text, slots = "", []
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            slots.append(slot(piece))
            text += f"{{{len(slots)}}}"
    return text, tuple(slots)


def _aligned(texts: list[str]) -> list[str | list[str]]:
    """Constant runs as text, variable ones as the list of their values, one a prompt."""
    if len(set(texts)) == 1:
        return [texts[0]] if texts[0] else []
    begin = _word_begin(texts[0], common_prefix(texts))
    tails = [text[begin:] for text in texts]
    end = _word_end(tails[0], common_prefix([tail[::-1] for tail in tails]))
    gaps = [tail[: len(tail) - end] for tail in tails]
    pieces: list[str | list[str]] = [texts[0][:begin]] if begin else []
    anchors = _sentences(gaps) or _phrases(gaps)
    starts = [0] * len(gaps)
    for anchor, places in anchors:
        pieces += _words([gap[start:place] for gap, start, place in zip(gaps, starts, places, strict=True)])
        pieces.append(anchor)
        starts = [place + len(anchor) for place in places]
    pieces += _words([gap[start:] for gap, start in zip(gaps, starts, strict=True)])
    if end:
        pieces.append(tails[0][len(tails[0]) - end :])
    return _joined(pieces)


def _sentences(gaps: list[str]) -> list[tuple[str, list[int]]]:
    """Sentences and lines that stand exactly once in each gap, in the same order, with their places."""
    common: dict[str, list[int]] | None = None
    for gap in gaps:
        found = {}
        times: Counter[str] = Counter()
        for match in _SENTENCE.finditer(gap):
            sentence = match[0].strip()
            times[sentence] += 1
            found[sentence] = match.start() + match[0].index(sentence)
        once = {text: at for text, at in found.items() if times[text] == 1 and _bytes(text) >= _LEAST}
        if common is None:
            common = {text: [at] for text, at in once.items()}
        else:
            common = {text: [*places, once[text]] for text, places in common.items() if text in once}
        if not common:
            return []
    chain: list[tuple[str, list[int]]] = []
    for text, places in sorted((common or {}).items(), key=lambda pair: pair[1][0]):
        if not chain or all(
            place >= before + len(chain[-1][0]) for place, before in zip(places, chain[-1][1], strict=True)
        ):
            chain.append((text, places))
    return chain


def _phrases(gaps: list[str]) -> list[tuple[str, list[int]]]:
    """Runs of five or more words that stand exactly once in each gap, in the same order, with their places."""
    shared: set[tuple[str, ...]] | None = None
    for gap in sorted(gaps, key=len):
        here = set(_grams(_WORD.findall(gap[:_PHRASE_CHARS])))
        shared = here if shared is None else shared & here
        if not shared:
            return []
    common: dict[tuple[str, ...], list[tuple[int, int]]] = {gram: [] for gram in shared or ()}
    for gap in gaps:
        words = list(_WORD.finditer(gap[:_PHRASE_CHARS]))
        grams = _grams([match[0] for match in words])
        times = Counter(grams)
        for at, gram in enumerate(grams):
            if times[gram] > 1:
                common.pop(gram, None)
            elif gram in common:
                common[gram].append((words[at].start(), words[at + _GRAM - 1].end()))
    runs: list[tuple[list[int], list[int]]] = []
    for spans in sorted(common.values()):
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        last = runs[-1] if runs else ([0] * len(gaps), [0] * len(gaps))
        joins = bool(runs) and all(start < end for start, end in zip(starts, last[1], strict=True))
        begins = last[0] if joins else starts
        follows = joins or all(start >= end for start, end in zip(starts, last[1], strict=True))
        if follows and len({gap[begin:end] for gap, begin, end in zip(gaps, begins, ends, strict=True)}) == 1:
            if joins:
                runs.pop()
            runs.append((begins, ends))
    return [(gaps[0][starts[0] : ends[0]], starts) for starts, ends in runs]


def _grams(words: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[shift:] for shift in range(_GRAM)), strict=False))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _words(gaps: list[str]) -> list[str | list[str]]:
    """One gap between constant sentences: its own common beginning and end, and what is between, word by word."""
    if len(set(gaps)) == 1:
        return [gaps[0]] if gaps[0] else []
    begin = _word_begin(gaps[0], common_prefix(gaps))
    rest = [gap[begin:] for gap in gaps]
    end = _word_end(rest[0], common_prefix([gap[::-1] for gap in rest]))
    middle = [gap[: len(gap) - end] for gap in rest]
    pieces: list[str | list[str]] = [gaps[0][:begin]] if begin else []
    tokens = [_TOKEN.findall(gap) for gap in middle] if max(map(len, middle)) <= 6 * _TOKENS else []
    runs = _runs(tokens) if tokens and max(map(len, tokens)) <= _TOKENS else []
    starts = [0] * len(middle)
    for places, length in runs:
        values = ["".join(each[start:place]) for each, start, place in zip(tokens, starts, places, strict=True)]
        pieces += [values, "".join(tokens[0][places[0] : places[0] + length])]
        starts = [place + length for place in places]
    if runs:
        pieces.append(["".join(each[start:]) for each, start in zip(tokens, starts, strict=True)])
    else:
        pieces.append(middle)
    if end:
        pieces.append(rest[0][len(rest[0]) - end :])
    return pieces


def _runs(tokens: list[list[str]]) -> list[tuple[list[int], int]]:
    """Runs of tokens that all have in common, in order: their places, one a prompt, and their length."""
    first = tokens[0]
    maps: list[dict[int, int]] = []
    kept = set(range(len(first)))
    for other in tokens[1:]:
        blocks = SequenceMatcher(None, first, other, autojunk=False).get_matching_blocks()
        maps.append({block.a + step: block.b + step for block in blocks for step in range(block.size)})
        kept &= maps[-1].keys()
    runs: list[tuple[list[int], int]] = []
    at = 0
    while at < len(first):
        length = 0
        while at + length in kept and all(each[at + length] == each[at] + length for each in maps):
            length += 1
        text = "".join(first[at : at + length])
        if len(re.findall(r"\w", text)) >= 2:
            runs.append(([at, *(each[at] for each in maps)], length))
        at += max(1, length)
    return runs


def _joined(pieces: list[str | list[str]]) -> list[str | list[str]]:
    """Neighbouring constants as one, neighbouring variables as one, empty ones left out."""
    joined: list[str | list[str]] = []
    for piece in pieces:
        if not piece or (isinstance(piece, list) and not any(piece)):
            continue
        last = joined[-1] if joined else None
        if isinstance(piece, str) and isinstance(last, str):
            joined[-1] = last + piece
        elif isinstance(piece, list) and isinstance(last, list):
            joined[-1] = [left + right for left, right in zip(last, piece, strict=True)]
        else:
            joined.append(piece)
    return joined


def common_prefix(texts: Sequence[str]) -> int:
    """Length of the longest common prefix."""
    left, right = min(texts), max(texts)
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _word_begin(text: str, length: int) -> int:
    """``length``, or less, so that no word is cut at the end of the constant beginning."""
    if length >= len(text):
        return length
    cut = re.search(r"[A-Za-zÀ-ÿ0-9_]+\Z", text[max(0, length - 40) : length])
    return length - len(cut[0]) if cut and cut.start() > 0 else length


def _word_end(text: str, length: int) -> int:
    cut = re.match(r"[A-Za-zÀ-ÿ0-9_]+", text[len(text) - length :][:40])
    return length - len(cut[0]) if cut and 0 < length < len(text) else length
