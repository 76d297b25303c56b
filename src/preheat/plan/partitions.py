"""Which of a log's models and adapters a plan is for: prompts of another model are of no use to this engine."""

from __future__ import annotations

from preheat.errors import BadInput
from preheat.plan.candidates import Candidate
from preheat.plan.settings import PlanSettings
from preheat.records.profile import Profile
from preheat.records.target import EngineInfo


def choose_partitions(
    candidates: list[Candidate],
    profile: Profile,
    settings: PlanSettings,
    engine: EngineInfo | None,
    left_out: dict[str, int],
) -> list[Candidate]:
    """Candidates of the partitions that the engine serves.

    A log with one model (or none named) is taken to be the engine's; a trace's does not count. With several, the names
    must match the engine's models, directly or through an alias, or one is chosen by ``settings.model``.
    """
    models = {partition.model for partition in profile.partitions if partition.block_tokens is None}
    wanted = _wanted(models, settings, engine)
    if wanted == models:
        return candidates
    usable = [partition.model in wanted for partition in profile.partitions]
    place: dict[int, int] = {}
    kept: list[Candidate] = []
    for number, found in enumerate(candidates):
        if not usable[found.partition]:
            reason = f"for another model: {profile.partitions[found.partition].model}"
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        place[number] = len(kept)
        found.parent = place.get(found.parent, -1)
        kept.append(found)
    return kept


def _wanted(models: set[str | None], settings: PlanSettings, engine: EngineInfo | None) -> set[str | None]:
    named = ", ".join(sorted(str(model) for model in models if model is not None))
    if settings.model is not None:
        if settings.model not in models:
            raise BadInput(f"the log has no model {settings.model!r}", f"it has: {named or 'none named'}")
        return {settings.model}
    if len(models) <= 1 or engine is None:
        return models
    aliases = dict(settings.model_aliases)
    served = {engine.model, *engine.models}
    matching: set[str | None] = {model for model in models if model is not None and aliases.get(model, model) in served}
    if not matching:
        raise BadInput(
            f"the log's models are {named}, and the engine serves none of them ({engine.model})",
            "say which is meant: --model-alias LOG_NAME=ENGINE_NAME",
        )
    return matching
