"""The parameters of a call as spans tell them: in attributes, under the names of several SDKs, and as JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from preheat.read.nested import decoded
from preheat.read.parameters import SAMPLING

_MORE = (
    "typical_p",
    "stop_token_ids",
    "min_tokens",
    "ignore_eos",
    "output_format",
    "output_config",
    "function_call",
    "reasoning",
    "thinking",
    "service_tier",
    "format",
)
"""Parameters of single providers, which spans tell as they were given."""
_OTHER_NAMES = {
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop_sequences",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "toolChoice": "tool_choice",
    "choice.count": "n",
    "p": "top_p",
}
_TEXTS = ("stop", "stop_sequences", "format", "guided_regex", "guided_grammar", "reasoning_effort")
_UNSET: tuple[Any, ...] = (None, "", "null", "None", "NOT_GIVEN", [], {})


@cache
def _ours(prefixes: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """``(rank, our name)`` of every parameter, by the log's name; the first prefix has the highest rank, and wins."""
    names = [(name, name) for name in (*SAMPLING, *_MORE)] + list(_OTHER_NAMES.items())
    pairs = [(prefix + name, ours) for prefix in reversed(prefixes) for name, ours in names]
    return {name: (rank, ours) for rank, (name, ours) in enumerate(pairs)}


def parameters_in(given: Mapping[str, Any], prefixes: tuple[str, ...] = ("",)) -> dict[str, Any] | None:
    """Those of ``given`` that shape the answer, each named after one of ``prefixes``; ``None`` without any.

    JSON text is decoded; what stands for a parameter that was not given (null, empty) is left out.
    """
    table = _ours(prefixes)
    named = table.keys() & given.keys()
    if not named:
        return None
    found: dict[str, Any] = {}
    for name in sorted(named, key=table.__getitem__):
        ours = table[name][1]
        if (value := _value(ours, given[name])) not in _UNSET:
            found[ours] = value
    return found or None


def _value(name: str, value: Any) -> Any:
    """A number where it was logged as text, except for what may be a text."""
    value = decoded(value)
    if isinstance(value, str) and name not in _TEXTS:
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError):
            return value
    return value
