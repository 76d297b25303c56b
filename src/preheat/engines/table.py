"""The table of adapters, and how to find out which of them an URL needs."""

from __future__ import annotations

from preheat.engines.engine import Engine
from preheat.engines.llamacpp import LlamaCppEngine
from preheat.engines.openai import OpenAIEngine
from preheat.engines.settings import EngineSettings
from preheat.engines.vllm import VllmEngine
from preheat.engines.wire import Wire
from preheat.errors import BadInput, EngineFault, EngineTimeout, EngineUnreachable

ENGINES: dict[str, type[OpenAIEngine]] = {
    "llamacpp": LlamaCppEngine,
    "vllm": VllmEngine,
    "openai": OpenAIEngine,
}


async def connect(url: str, kind: str | None = None, settings: EngineSettings | None = None) -> Engine:
    """The adapter for the engine at ``url``; ``kind`` (a key of :data:`ENGINES`) is asked for where not given.

    Raises :class:`BadInput` for an unknown kind or a URL that is none, and :class:`EngineUnreachable` or
    :class:`EngineTimeout` where nobody answers.
    """
    if kind is not None and kind not in ENGINES:
        raise BadInput(f"no engine of kind {kind!r}", "one of " + ", ".join(ENGINES))
    wire = Wire(url, settings)
    try:
        return ENGINES[kind or await detect(wire)](wire)
    except BaseException:
        await wire.close()
        raise


async def detect(wire: Wire) -> str:
    """llama.cpp by its ``/props``, vLLM by its version and metrics; anything else is a generic endpoint."""
    props = await _answer(wire, "/props")
    if isinstance(props, dict) and "default_generation_settings" in props:
        return "llamacpp"
    version = await _answer(wire, "/version")
    if isinstance(version, dict) and "version" in version and "vllm:" in await _text(wire, "/metrics"):
        return "vllm"
    return "openai"


async def _answer(wire: Wire, path: str) -> object:
    try:
        return await wire.get_json(path)
    except (EngineUnreachable, EngineTimeout):
        raise
    except EngineFault:  # it has no such route, or keeps it to itself
        return None


async def _text(wire: Wire, path: str) -> str:
    try:
        return await wire.get_text(path)
    except (EngineUnreachable, EngineTimeout):
        raise
    except EngineFault:
        return ""
