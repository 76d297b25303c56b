"""What ``--model`` or ``--engine`` says of prompts: the template that renders them, the tokenizer that counts them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.streams import remark
from preheat.errors import BadInput
from preheat.prompts.render import PromptNotRenderable
from preheat.records.rendering import Rendering
from preheat.records.request import Request

if TYPE_CHECKING:
    from preheat.engines.engine import Engine

Ids = list[int] | PromptNotRenderable


@dataclass(frozen=True)
class Model:
    """A way to render, and ``None`` or a way to tokenise.

    ``prompt_ids`` takes requests and their rendered prompts and gives the ids of each, or why it has none;
    ``text_counts`` gives the tokens of plain texts. ``tokenizer`` is the file or the engine that does so; ``is_asked``:
    over a network, where every text costs a request. ``word_pieces`` gives the tokens of words as text.
    """

    rendering: Rendering
    prompt_ids: Callable[[Sequence[Request], Sequence[str]], Sequence[Ids]] | None = None
    text_counts: Callable[[Sequence[str]], list[int]] | None = None
    tokenizer: str = ""
    is_asked: bool = False
    word_pieces: Callable[[Sequence[str]], list[list[str]]] | None = None
    uncounted: str = ""
    """Why a tokenizer that was given cannot count."""


@contextlib.contextmanager
def model_of(flags: dict[str, Any], default: Rendering | None = None, *, needs_tokens: bool = False) -> Iterator[Model]:
    """The model of ``--model`` or ``--engine``; ``default`` without a tokenizer where neither is given.

    ``needs_tokens``: whether there is nothing to do without a tokenizer; else one that cannot be had is remarked on.
    Raises :class:`click.UsageError` where both are given.
    """
    if flags["model"] and flags["engine"]:
        raise click.UsageError("'--model' and '--engine' both say how prompts are rendered: give one of them")
    if flags["engine"]:
        with _of_engine(flags) as found:
            yield found
    elif flags["model"]:
        yield _of_files(flags["model"], needs_tokens, flags["quiet"])
    else:
        yield Model(default or Rendering())


def _of_files(path: str, needs_tokens: bool, quiet: bool) -> Model:
    from preheat.prompts.hugging_face import find_model

    files = find_model(path)
    if files.rendering is None and not quiet:
        remark(f"there is no chat template beside {files.tokenizer}: chats are rendered by {Rendering().name}")
    rendering = files.rendering or Rendering()
    if files.tokenizer is None:
        if needs_tokens:
            raise BadInput(f"{path} brings no tokenizer", "give a model's folder, its tokenizer.json, or --engine URL")
        return Model(rendering, uncounted=f"{path} brings no tokenizer")
    from preheat.prompts.tokenizer import is_installed, load_tokenizer

    if not is_installed() and not needs_tokens:
        if not quiet:
            remark('tokens are not counted: pip install "preheat[tokenizers]"')
        return Model(rendering, uncounted="preheat[tokenizers] is not installed, which reads it")

    tokenizer = load_tokenizer(files.tokenizer)

    def ids(requests: Sequence[Request], texts: Sequence[str]) -> list[Ids]:
        pairs = zip(requests, texts, strict=True)
        return [tokenizer.encode(text, special=request.prompt is not None) for request, text in pairs]

    return Model(rendering, ids, tokenizer.counts, tokenizer.name, word_pieces=tokenizer.pieces)


@contextlib.contextmanager
def _of_engine(flags: dict[str, Any]) -> Iterator[Model]:
    from preheat.cli.wiring import engine_settings
    from preheat.engines.engine import rendering_of
    from preheat.engines.prompt_ids import prompt_ids, text_counts, tokenizing
    from preheat.engines.table import connect

    with asyncio.Runner() as runner:
        engine: Engine = runner.run(connect(flags["engine"], flags["engine_kind"], engine_settings(flags)))
        try:
            asked = tokenizing(engine)
            info = runner.run(engine.describe())
            own = rendering_of(info)
            if own is None and not flags["quiet"]:
                remark(
                    f"the {info.kind} at {engine.url} does not tell its chat template"
                    + (" (vLLM: --enable-tokenizer-info-endpoint)" if info.kind == "vllm" else "")
                    + f": text is rendered by {Rendering().name}, tokens are the engine's own"
                )
            yield Model(
                own or Rendering(),
                lambda requests, texts: runner.run(prompt_ids(asked, requests, texts, own)),
                lambda texts: runner.run(text_counts(asked, texts)),
                engine.url,
                is_asked=True,
            )
        finally:
            runner.run(engine.close())
