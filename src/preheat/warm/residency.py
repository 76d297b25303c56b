"""Verification: the engine's word at the first probe, and nothing else, says whether an item is resident."""

from __future__ import annotations

from collections.abc import Sequence

from preheat.engines.engine import Prefill
from preheat.errors import EngineFault
from preheat.records.outcomes import Outcome
from preheat.records.plan import PlanItem
from preheat.records.target import EngineInfo
from preheat.warm.journal import Entry
from preheat.warm.prompts import WarmPrompt

NO_WORD = "the engine does not report cached tokens: a 200 is no proof"
TOO_SHORT = "shorter than one cache block of the engine"


def lost(warmed: Entry, fault: EngineFault | None, attempts: int) -> Entry:
    """The status of an item whose first probe got no answer: it may have filled what was missing, so none counts."""
    why = f": {fault.message}" if fault else ""
    return Entry(
        id=warmed.id,
        status=Outcome.MISSING,
        predicted_tokens=warmed.predicted_tokens,
        attempts=attempts,
        reason=f"the answer to its first probe was lost{why}",
    )


def status_of(warmed: Entry, prompt: WarmPrompt, probe: Prefill, info: EngineInfo, earlier: Entry | None) -> Entry:
    """The status of one warmed item after its first probe.

    A probe makes the engine compute what was missing; that counts as warm-up and never as proof. ``earlier`` is what
    an interrupted run's first probe said: MISSING then stays MISSING, LOADED is asked again.
    """
    cached = probe.cached_tokens
    predicted = warmed.predicted_tokens
    if prompt.ids is None:
        predicted = info.whole_blocks(predicted)
    probe_tokens = probe.prompt_tokens - (cached or 0) + (earlier.probe_tokens if earlier else 0)
    status, reason = _judge(warmed, predicted, cached, prompt.clipped)
    if earlier and earlier.status is Outcome.MISSING:
        status, reason, cached = Outcome.MISSING, earlier.reason, earlier.cached_tokens
    return Entry(
        id=warmed.id,
        status=status,
        predicted_tokens=predicted,
        cached_tokens=cached,
        probe_tokens=probe_tokens,
        probe_ms=round(probe.wall_ms, 3),
        attempts=warmed.attempts,
        reason=reason,
    )


def longest_only(items: Sequence[PlanItem]) -> list[PlanItem]:
    """The items that no other item extends."""
    return [item for item in items if spokesman(item, items) is None]


def spokesman(item: PlanItem, others: Sequence[PlanItem]) -> PlanItem | None:
    """The longest other item that begins with this one's whole text, on the same model and adapter."""
    text = item.text or ""
    extending = [
        other
        for other in others
        if other.id != item.id
        and (other.model, other.adapter) == (item.model, item.adapter)
        and (other.text or "").startswith(text)
    ]
    return max(extending, key=lambda other: len(other.text or ""), default=None)


def implied(warmed: Entry, prompt: WarmPrompt, probe: Entry) -> Entry:
    """The status of a prefix from the probe of an item that extends it: what is cached of that is cached of this."""
    cached = None if probe.cached_tokens is None else min(probe.cached_tokens, warmed.predicted_tokens)
    status, reason = _judge(warmed, warmed.predicted_tokens, cached, prompt.clipped)
    return Entry(
        id=warmed.id,
        status=status,
        predicted_tokens=warmed.predicted_tokens,
        cached_tokens=cached,
        attempts=warmed.attempts,
        reason=reason or "read back from the probe of an item that extends it",
    )


def _judge(warmed: Entry, predicted: int, cached: int | None, clipped: bool) -> tuple[Outcome, str]:
    if cached is None:
        return Outcome.UNSUPPORTED, NO_WORD
    if predicted <= 0:
        return Outcome.UNSUPPORTED, TOO_SHORT
    if cached < predicted:
        return Outcome.MISSING, f"{cached} of {predicted} tokens resident at the first probe"
    if clipped:
        return Outcome.CLIPPED, f"longer than the engine's context; resident up to token {cached}"
    if warmed.computed_before:
        return Outcome.LOADED, "computed by this warm-up before its turn came"
    untouched = warmed.attempts <= 1  # a try that failed may have made the engine compute it all the same
    if untouched and warmed.cached_before is not None and warmed.cached_before >= predicted:
        return Outcome.ALREADY, ""
    return Outcome.LOADED, ""
