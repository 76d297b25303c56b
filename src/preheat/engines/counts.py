"""What an engine says in numbers and names, believed only where it can be true.

Every adapter builds its :class:`Prefill` and :class:`Generation` here and nowhere else, so that an impossible count
(negative, a truth value, more cached than prompted) ends as :class:`preheat.errors.EngineGarbage` and never in a plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from preheat.engines.engine import Generation, Prefill
from preheat.engines.shown import has_controls, shown
from preheat.errors import EngineGarbage

REMEDY = "is this the URL of an engine, and of the kind that --engine-kind says? If so, its version is not supported"
_COUNT_REMEDY = "such a count cannot be true: upgrade the engine, or reach it without what stands between"
_COUNTS_END = 2**53
"""Larger ones do not survive JSON in every language (RFC 8259, section 6), and no engine has so many of anything."""
_TOKEN_IDS_END = 2**31


@contextmanager
def understanding(where: str, complaint: str) -> Iterator[None]:
    """What goes wrong while a reply is taken apart is the reply's fault: :class:`EngineGarbage` saying ``complaint``.

    Only ever put around the taking apart itself, so that no mistake of ours is blamed on an engine.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise EngineGarbage(f"{where} {complaint}", REMEDY) from error


def count_of(value: object, where: str, field: str, *, at_least: int = 0, below: int = _COUNTS_END) -> int:
    """``value`` as a whole number in ``[at_least, below)``; raises :class:`EngineGarbage` that names ``field``."""
    if type(value) is not int or not at_least <= value < below:
        raise EngineGarbage(f"{where} gave {_named(value)} as {field}", _COUNT_REMEDY)
    return value


def maybe_count(value: object, where: str, field: str, *, at_least: int = 0) -> int | None:
    """As :func:`count_of`; ``None`` where the engine does not say."""
    return None if value is None else count_of(value, where, field, at_least=at_least)


def ms_of(value: object) -> float | None:
    """A time in ms; what is no finite number >= 0 counts as not said."""
    if type(value) not in (int, float) or not 0 <= value < _COUNTS_END:  # type: ignore[operator]
        return None
    return float(value)  # type: ignore[arg-type]


def ratio_of(over: object, under: object) -> float | None:
    """``over / under`` of two positive counts; ``None`` where one of them is none."""
    if type(over) is not int or type(under) is not int or not (0 < over < _COUNTS_END and 0 < under < _COUNTS_END):
        return None
    return over / under


def token_ids_of(value: object, where: str) -> list[int]:
    """A list of token ids. Raises :class:`EngineGarbage` for anything else."""
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one < _TOKEN_IDS_END for one in value):
        raise EngineGarbage(f"{where} gave no tokens", REMEDY)
    return value


def name_of(value: object, where: str, field: str) -> str:
    """A name that can be shown and sent back. Raises :class:`EngineGarbage` for anything else."""
    if not isinstance(value, str) or has_controls(value):
        raise EngineGarbage(f"{where} gave no usable {field}", REMEDY)
    return value


def template_of(value: object) -> str | None:
    """A chat template or special token; ``None`` where it is none, or could not be written down as UTF-8."""
    if not isinstance(value, str) or any("\ud800" <= sign <= "\udfff" for sign in value):
        return None
    return value


def prefill_of(
    where: str, *, prompt_tokens: object, cached_tokens: object, prompt_ms: object, wall_ms: float
) -> Prefill:
    """The one way to a :class:`Prefill` from an engine's words.

    An engine that does not count the prompt's tokens has 0 of them, and its cached tokens are unknown.
    """
    prompt = maybe_count(prompt_tokens, where, "prompt_tokens")
    cached = _cached(cached_tokens, prompt, where)
    return Prefill(
        prompt_tokens=prompt or 0,
        cached_tokens=None if prompt is None else cached,
        prompt_ms=ms_of(prompt_ms),
        wall_ms=wall_ms,
    )


def generation_of(
    where: str,
    *,
    token_times_ms: list[float],
    last_ms: float,
    usage: dict[str, Any],
    cached_tokens: object,
    timings: dict[str, Any],
    finish_reason: str | None,
) -> Generation:
    """The one way to a :class:`Generation`. An answer of no tokens has its end as its first token's time."""
    prompt = maybe_count(usage.get("prompt_tokens"), where, "prompt_tokens")
    output = maybe_count(usage.get("completion_tokens"), where, "completion_tokens")
    return Generation(
        ttft_ms=token_times_ms[0] if token_times_ms else last_ms,
        total_ms=last_ms,
        token_times_ms=token_times_ms,
        output_tokens=len(token_times_ms) if output is None else output,
        prompt_tokens=prompt,
        cached_tokens=_cached(cached_tokens, prompt, where),
        prompt_ms=ms_of(timings.get("prompt_ms")),
        decode_ms=ms_of(timings.get("predicted_ms")),
        finish_reason=finish_reason,
    )


def _cached(value: object, prompt: int | None, where: str) -> int | None:
    cached = maybe_count(value, where, "cached_tokens")
    if cached is not None and prompt is not None and cached > prompt:
        raise EngineGarbage(f"{where} gave {cached} as cached_tokens of a prompt of {prompt} tokens", _COUNT_REMEDY)
    return cached


def _named(value: object) -> str:
    """``value`` for a message; never a long number, which would not even print."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a number of more than 20 digits"
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else "a number that is not finite"
    if isinstance(value, str):
        return f"the text {shown(value, 40)!r}"
    return "a list" if isinstance(value, list) else "an object"
