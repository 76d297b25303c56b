"""Redundancy: blocks counted once, by the chain of their prefix, over the window the log really holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_runs import plan_item, warm_run

from preheat.judge.redundancy import DAY_S, LaterPrompt, redundancy, warmed_ids

A, B, C = "a" * 64, "b" * 64, "c" * 64


def test_shared_blocks_count_once_and_only_along_their_prefix() -> None:
    items = [plan_item("top", A), plan_item("ab", A + B), plan_item("ac", A + C + "tail")]
    told = redundancy(items, [LaterPrompt(0.0, A + B + "question"), LaterPrompt(1.0, C + A)], start_s=0.0)
    assert (told.warmed_blocks, told.unused_blocks) == (3, 1)
    assert told.value == pytest.approx(1 / 3)
    assert told.metric().denominator == "1 of 3 warmed blocks"


def test_the_window_is_the_first_day_or_what_the_log_holds_of_it() -> None:
    items = [plan_item("a", A), plan_item("b", B)]
    prompts = [LaterPrompt(99.0, B), LaterPrompt(100.0, A), LaterPrompt(100.0 + DAY_S, B), LaterPrompt(None, B)]
    told = redundancy(items, prompts, start_s=100.0)
    assert (told.unused_blocks, told.prompts, told.untimed, told.window_s) == (1, 1, 1, DAY_S)
    assert "all that the log holds" not in told.metric().window
    short = redundancy(items, [*prompts[:2], LaterPrompt(160.0, "x")], start_s=100.0)
    assert short.window_s == 60.0
    assert "all that the log holds" in short.metric().window


def test_abstains_where_it_cannot_tell() -> None:
    assert (
        redundancy([plan_item("a", A)], [], start_s=0).metric().why
        == "the log holds no request with a time after the start"
    )
    assert redundancy([], [LaterPrompt(1.0, A)], start_s=0).value is None
    textless = redundancy([plan_item("a", None)], [LaterPrompt(1.0, A)], start_s=0).metric()
    assert textless.value is None
    assert "without text" in textless.why


def test_models_and_adapters_share_nothing() -> None:
    items = [plan_item("a", A, model="m"), plan_item("b", A, model="m", adapter="x")]
    told = redundancy(items, [LaterPrompt(0.0, A, "m")], start_s=0.0)
    assert (told.warmed_blocks, told.unused_blocks) == (2, 1)


def test_counts_what_was_warmed_when_told() -> None:
    ids = warmed_ids(warm_run())
    assert ids == {f"i{n}" for n in range(7)}
    told = redundancy([plan_item("i0", A), plan_item("i7", B)], [LaterPrompt(0.0, A)], start_s=0.0, warmed=ids)
    assert (told.warmed_blocks, told.value) == (1, 0.0)


def test_prompts_are_streamed() -> None:
    seen = 0

    def prompts() -> Iterator[LaterPrompt]:
        nonlocal seen
        for seen in range(1000):
            yield LaterPrompt(float(seen), A)

    assert redundancy([plan_item("a", A)], prompts(), start_s=0.0).value == 0.0
    assert seen == 999


@given(st.lists(st.text("ab", max_size=12), max_size=8), st.lists(st.text("ab", max_size=12), min_size=1, max_size=8))
def test_agrees_with_sets_of_prefixes(texts: list[str], asked: list[str]) -> None:
    def prefixes(many: list[str]) -> set[str]:
        return {text[: 2 * n] for text in many for n in range(1, len(text) // 2 + 1)}

    items = [plan_item(str(n), text) for n, text in enumerate(texts)]
    told = redundancy(items, [LaterPrompt(0.0, text) for text in reversed(asked)], start_s=0.0, block_chars=2)
    assert told.warmed_blocks == len(prefixes(texts))
    assert told.unused_blocks == len(prefixes(texts) - prefixes(asked))
