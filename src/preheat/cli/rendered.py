"""The lines of ``preheat read --rendered``: prompts as an engine sees them, in text, tokens and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import click

from preheat.cli.model import Model, model_of
from preheat.prompts.render import PromptNotRenderable, Renderer, renderer_for
from preheat.records.request import Request

_AT_ONCE = 64
_MEDIA = "it holds more than text, which becomes tokens inside the engine"


def rendered_lines(requests: Iterator[Request], flags: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One object per request. ``why`` says what is missing: the template or the engine refuses the request."""
    paths = _adapters(flags["lora"])
    with model_of(flags, needs_tokens=bool(flags["block_size"])) as model:
        renderer = renderer_for(model.rendering)
        while some := list(islice(requests, _AT_ONCE)):
            lines = [_line(request, renderer) for request in some]
            if model.prompt_ids is not None:
                _add_tokens(some, lines, model, flags, paths)
            for request, line in zip(some, lines, strict=True):
                yield line | {"tenant": request.tenant, "model": request.model, "adapter": request.adapter}


def _line(request: Request, renderer: Renderer) -> dict[str, Any]:
    line: dict[str, Any] = {"id": request.id, "time": request.time_s}
    try:
        line["rendered"] = renderer.render(request)
    except PromptNotRenderable as refusal:
        line["rendered"], line["why"] = None, refusal.message
    if request.truncated:
        line["truncated"] = True
    return line


def _add_tokens(
    requests: Sequence[Request],
    lines: Sequence[dict[str, Any]],
    model: Model,
    flags: dict[str, Any],
    paths: dict[str, str],
) -> None:
    """``tokens``, and ``block_hashes`` where they are asked for, into the lines that have a text."""
    assert model.prompt_ids is not None
    numbers = [number for number, line in enumerate(lines) if line["rendered"] is not None]
    found = model.prompt_ids([requests[n] for n in numbers], [lines[n]["rendered"] for n in numbers])
    for number, ids in zip(numbers, found, strict=True):
        line, request = lines[number], requests[number]
        if isinstance(ids, PromptNotRenderable):
            line["tokens"], line["why"] = None, ids.message
            continue
        line["tokens"] = len(ids)
        if flags["block_size"]:
            hashes = _hashes(ids, request, flags, paths)
            line["block_hashes"] = None if isinstance(hashes, str) else hashes
            if isinstance(hashes, str):
                line["why"] = hashes


def _hashes(ids: list[int], request: Request, flags: dict[str, Any], paths: dict[str, str]) -> list[str] | str:
    """In hexadecimal; or why there are none. A cut prompt's last token may be another one, so it is in no block."""
    from preheat.blocks.hashes import Apart, block_hashes

    if _holds_media(request):
        return _MEDIA
    adapter = None
    if request.adapter is not None:
        if request.adapter not in paths:
            return f"the adapter {request.adapter!r} has a path that is part of its blocks' names: give it with --lora"
        adapter = (request.adapter, paths[request.adapter])
    salt = (request.sampling or {}).get("cache_salt")
    apart = Apart(adapter, salt if isinstance(salt, str) else None)
    known = ids[:-1] if request.truncated else ids
    names = block_hashes(known, flags["block_size"], flags["hash_algorithm"], flags["hash_seed"], apart)
    return [name.hex() for name in names]


def _holds_media(request: Request) -> bool:
    parts = [part for message in request.messages if isinstance(message.content, list) for part in message.content]
    return any(isinstance(part, dict) and not isinstance(part.get("text"), str) for part in parts)


def _adapters(given: Sequence[str]) -> dict[str, str]:
    """``NAME=PATH`` → path by name. Raises :class:`click.UsageError` for anything else."""
    found: dict[str, str] = {}
    for pair in given:
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise click.UsageError(f"'--lora {pair}' is not NAME=PATH")
        found[name] = path
    return found
