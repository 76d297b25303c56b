"""Templates from prompts: constant runs and variable places."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.alignment import align

NAMES = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet"]
WORDS = st.lists(
    st.sampled_from(NAMES),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize(
    ("prompts", "template", "kinds"),
    [
        (
            ["Translate apple pie from German to French.", "Translate plum from Czech to French."],
            "Translate {1} from {2} to French.",
            ["sentence", "name"],
        ),
        (
            ["Order 66 of 2024-05-01 for anna@example.com", "Order 1701 of 2023-11-30 for bo@example.org"],
            "Order {1} of {2} for {3}",
            ["number", "date", "email"],
        ),
        (
            [
                "请把下面的句子翻译成英文，不要解释。\n句子：天气真的很好",
                "请把下面的句子翻译成英文，不要解释。\n句子：我喜欢苹果",
            ],
            "请把下面的句子翻译成英文，不要解释。\n句子：{1}",
            ["sentence"],
        ),
        (
            [
                "Read.\n\nThe sea is wide. It is deep.\n\nNow answer in one word.\nQ: how wide is it?",
                "Read.\n\nA hill. Some trees stand on it.\n\nNow answer in one word.\nQ: how many trees?",
            ],
            "Read.\n\n{1}.\n\nNow answer in one word.\nQ: how {2}?",
            ["sentence", "sentence"],
        ),
        (["the very same"] * 3, "the very same", []),
    ],
)
def test_templates(prompts: list[str], template: str, kinds: list[str]) -> None:
    found, slots = align(prompts)
    assert found == template
    assert [each.kind for each in slots] == kinds


def test_slots_tell_how_many_values_and_how_long() -> None:
    _, slots = align(["Dear Anna, hello", "Dear Bo, hello", "Dear Anna, hello"])
    assert [(each.kind, each.distinct, each.mean_chars) for each in slots] == [("name", 2, 3.3)]


def fits(template: str, slots: int, prompt: str) -> bool:
    pattern = ""
    for number in range(1, slots + 1):
        constant, _, template = template.partition(f"{{{number}}}")
        pattern += re.escape(constant) + "(.*?)"
    return re.fullmatch(pattern + re.escape(template), prompt, re.DOTALL) is not None


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=6),
    st.sampled_from(["", "Read this carefully. ", "# Task\n\n"]),
    st.sampled_from([" ", "\n\nNow answer from the text above, in one sentence: ", "\n---\n"]),
    st.sampled_from(["", ".", "\nAnswer:"]),
)
def test_every_prompt_fits_its_template(
    values: list[tuple[list[str], list[str], list[str]]], before: str, between: str, after: str
) -> None:
    prompts = [
        f"{before}{' '.join(one)}{between}{' '.join(two)}. {' '.join(three)}{after}" for one, two, three in values
    ]
    template, slots = align(prompts)
    assert all(fits(template, len(slots), prompt) for prompt in prompts)


@given(st.lists(st.text("ab .\n你好<1", max_size=40), min_size=1, max_size=5))
def test_any_texts_fit_their_template(prompts: list[str]) -> None:
    template, slots = align(prompts)
    assert all(fits(template, len(slots), prompt) for prompt in prompts)
