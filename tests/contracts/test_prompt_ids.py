"""Prompts counted before they are sent have as many tokens as the engine then says, on every engine."""

from __future__ import annotations

import msgspec
import pytest

from preheat.engines.engine import Engine, rendering_of
from preheat.engines.openai import OpenAIEngine
from preheat.engines.prompt_ids import prompt_ids, text_counts, tokenizing
from preheat.engines.settings import EngineSettings
from preheat.errors import BadInput
from preheat.prompts.render import PromptNotRenderable, renderer_for
from preheat.records.request import Message, Request

CHAT = Request(
    id="chat",
    messages=(
        Message(role="system", content="You answer in one word. 请简短回答。"),
        Message(role="user", content="Capital of France?\n\n"),
        Message(role="assistant", content="Paris"),
        Message(role="user", content="  And of Spain? 12345"),
    ),
)
COMPLETION = Request(id="completion", prompt="The capital of Germany is")


async def test_a_prompts_ids_are_as_many_as_the_engine_counts(engine: Engine) -> None:
    own = rendering_of(await engine.describe())
    assert own is not None
    requests = [CHAT, COMPLETION]
    texts = [renderer_for(own).render(request) for request in requests]
    found = await prompt_ids(tokenizing(engine), requests, texts, own)
    for request, ids in zip(requests, found, strict=True):
        assert isinstance(ids, list)
        assert len(ids) == (await engine.generate(request, max_tokens=1)).prompt_tokens
    (through_the_chat,) = await prompt_ids(tokenizing(engine), [CHAT], [""], None)
    assert through_the_chat == found[0]


async def test_a_cut_prompt_is_a_beginning_and_needs_the_engines_template(engine: Engine) -> None:
    own = rendering_of(await engine.describe())
    assert own is not None
    cut = msgspec.structs.replace(CHAT, truncated=True, messages=CHAT.messages[:2])
    texts = [renderer_for(own).render(request) for request in (CHAT, cut)]
    whole, begun = await prompt_ids(tokenizing(engine), [CHAT, cut], texts, own)
    assert isinstance(whole, list)
    assert isinstance(begun, list)
    assert 4 < len(begun) < len(whole)
    assert begun[:-2] == whole[: len(begun) - 2]
    (refused,) = await prompt_ids(tokenizing(engine), [cut], [""], None)
    assert isinstance(refused, PromptNotRenderable)


async def test_plain_texts_are_counted_without_special_tokens(engine: Engine) -> None:
    one, two = await text_counts(tokenizing(engine), ["a river, a stone. ", "a river, a stone. " * 100])
    assert two == pytest.approx(100 * one, rel=0.25)


async def test_an_endpoint_without_a_tokenizer_is_named() -> None:
    generic = OpenAIEngine.at("http://127.0.0.1:9", EngineSettings())
    with pytest.raises(BadInput, match="no tokenizer route"):
        tokenizing(generic)
    await generic.close()
