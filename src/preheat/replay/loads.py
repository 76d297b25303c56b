"""How heavy the requests of a window are, counted by the engine's own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from preheat.engines.engine import Engine
from preheat.prompts.render import PromptNotRenderable, Renderer
from preheat.records.rendering import Prefix
from preheat.records.request import Request
from preheat.replay.pace import Load

_SAMPLE = 240


async def weigh(
    requests: Sequence[Request], renderer: Renderer, engine: Engine, chars_per_token: float, skipped: dict[str, int]
) -> list[Load]:
    """Loads for all renderable requests. Up to 240 are counted exactly; the rest take the measured mean ratio.

    ``skipped`` counts those that cannot be sent: the template refuses them, or the log holds no or not all of their
    text. A cut prompt would be another prompt, with another hit rate.
    """
    rendered: list[tuple[Request, str]] = []
    for request in requests:
        reason = _unsendable(request)
        if reason is None:
            try:
                rendered.append((request, renderer.render(request)))
                continue
            except PromptNotRenderable as refusal:
                reason = f"not renderable: {refusal.message}"
        skipped[reason] = skipped.get(reason, 0) + 1
    step = max(1, len(rendered) // _SAMPLE)
    sample = rendered[::step]
    counted = await engine.shared_tokens([Prefix(prompt, renderer.rendering) for _, prompt in sample])
    exact = {}
    if counted:
        exact = {id(request): len(ids) for (request, _), ids in zip(sample, counted, strict=True)}
        chars_per_token = sum(len(prompt) for _, prompt in sample) / max(1, sum(exact.values()))
    return [
        Load(request, prompt, exact.get(id(request), round(len(prompt) / chars_per_token)))
        for request, prompt in rendered
    ]


def _unsendable(request: Request) -> str | None:
    if request.truncated:
        return "the log cut their prompts, so they cannot be sent as they were"
    if not request.messages and request.prompt is None:
        return "the log holds no text of them"
    return None
