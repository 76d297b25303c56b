"""The table of rules, one a class, and what they make of a prompt or of a cluster of prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from preheat.mine.classes import (
    classification,
    code,
    dialogue,
    few_shot,
    json_schema,
    multi_hop,
    rag,
    role_play,
    tool_use,
)
from preheat.mine.classes.reading import Reading, read
from preheat.records.outcomes import PromptClass

RULES: dict[PromptClass, Callable[[Reading], bool]] = {
    PromptClass.MULTI_HOP: multi_hop.holds,
    PromptClass.JSON_SCHEMA: json_schema.holds,
    PromptClass.FEW_SHOT: few_shot.holds,
    PromptClass.RAG: rag.holds,
    PromptClass.TOOL_USE: tool_use.holds,
    PromptClass.ROLE_PLAY: role_play.holds,
    PromptClass.CLASSIFICATION: classification.holds,
    PromptClass.CODE: code.holds,
    PromptClass.DIALOGUE: dialogue.holds,
}
NONE = frozenset({PromptClass.OTHER})


def classify(prompt: str) -> frozenset[PromptClass]:
    """The classes of a rendered prompt, or of a bare completion; OTHER alone where no rule holds. Never empty.

    Linear in the prompt's length; of long texts head and tail are read.
    """
    reading = read(prompt)
    return frozenset(name for name, holds in RULES.items() if holds(reading)) or NONE


def classify_cluster(prompts: Sequence[str], weights: Sequence[float] | None = None) -> tuple[PromptClass, ...]:
    """The classes that more than half of a cluster's members (by weight) have, in the order of the enum.

    OTHER where there is no such class. ``weights`` are the requests of each prompt; without them all count alike.
    """
    shares = dict.fromkeys(PromptClass, 0.0)
    for prompt, weight in zip(prompts, weights if weights is not None else [1.0] * len(prompts), strict=True):
        for name in classify(prompt):
            shares[name] += weight
    half = (sum(weights) if weights is not None else len(prompts)) / 2
    held = tuple(name for name in PromptClass if shares[name] > half and name is not PromptClass.OTHER)
    return held or (PromptClass.OTHER,)
