"""Requests → blocks: what counts, what is left out and why."""

from __future__ import annotations

import pytest

from preheat.errors import BadInput
from preheat.prompts.render import renderer_for
from preheat.read.accesses import asked_blocks
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request

RENDERER = renderer_for(Rendering())


def test_text_is_counted_in_characters_and_its_tokens_tell_how_many_those_are() -> None:
    said = (Message(role="user", content="x" * 200),)
    kept: list[Request] = []
    requests = [
        Request(id="a", messages=said, input_tokens=50, time_s=1.0),
        Request(id="b", messages=said, model="other", time_s=2.0),
        Request(id="c", time_s=3.0),
        Request(id="d", blocks=(1, 2), block_tokens=512, time_s=4.0),
    ]
    asked = asked_blocks(requests, RENDERER, keep=kept.append)
    length = len(RENDERER.render(requests[0]))
    assert asked.accesses.blocks == asked.accesses.distinct == 2 * (length // 64)
    assert asked.counted_tokens
    assert asked.chars_per_token == pytest.approx(length / 50)
    assert asked.tokens_per_block == pytest.approx(64 * 50 / length)
    assert asked.left_out == {
        "neither text nor ids of blocks": 1,
        "blocks of another kind than the log's first": 1,
    }
    assert [request.id for request in kept] == ["a", "b"]


def test_a_trace_keeps_its_own_blocks() -> None:
    requests = [
        Request(id="a", blocks=(1, 2), block_tokens=512, input_tokens=900),
        Request(id="b", blocks=(1, 3), block_tokens=512, input_tokens=1024),
        Request(id="c", blocks=(1,), block_tokens=16),
        Request(id="d", blocks=(1,)),
        Request(id="e", prompt="text"),
    ]
    asked = asked_blocks(requests, RENDERER)
    assert asked.accesses.in_tokens
    assert asked.tokens_per_block == 512
    assert asked.accesses.ids.tolist() == [0, 1, 0, 2]
    assert asked.left_out == {
        "blocks of another kind than the log's first": 2,
        "ids of blocks whose size is not known": 1,
    }


def test_lengths_alone_are_refused_with_the_reason() -> None:
    with pytest.raises(BadInput, match="2 x neither text nor ids"):
        asked_blocks([Request(id="a", input_tokens=5), Request(id="b", input_tokens=6)], RENDERER)
