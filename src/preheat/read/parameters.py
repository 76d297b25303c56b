"""The parameters of a call beside its prompt, under the names that APIs give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAMPLING = (
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "stop",
    "stop_sequences",
    "n",
    "best_of",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning_effort",
    "guided_json",
    "guided_choice",
    "guided_regex",
    "guided_grammar",
    "structured_outputs",
    "chat_template_kwargs",
    "cache_salt",
)
"""Chat, completions, Responses, Anthropic's messages, vLLM's own. Temperature and limits have fields of their own.

The last two are about the prompt: switches of its template, and what keeps its cache entries apart."""


def sampling_in(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a request's body says, ``None`` where that is nothing. Responses' ``text.format`` (the shape that the answer
    must have) is there as ``response_format``."""
    found = {name: body[name] for name in SAMPLING if body.get(name) is not None}
    text = body.get("text")
    if isinstance(text, Mapping) and text.get("format") is not None:
        found.setdefault("response_format", text["format"])
    return found or None
