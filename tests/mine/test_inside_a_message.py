"""Prefixes that end inside a message: few-shot examples, exam instructions, documents to answer from."""

from __future__ import annotations

from pathlib import Path

import pytest

from preheat.blocks.hashes import block_hashes
from preheat.mine.miner import mine
from preheat.mine.tokens import count_tokens
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.hugging_face import find_model
from preheat.prompts.render import renderer_for
from preheat.prompts.tokenizer import load_tokenizer
from preheat.records.profile import BLOCK_CHARS
from preheat.records.request import Message, Request
from prompts.tiny_model import write_model

SHOTS = "".join(
    f"Q: Is {n} times {n} more than {7 * n}?\nA: Let us think. {n} times {n} is {n * n}, which is "
    f"{'more' if n > 7 else 'not more'} than {7 * n}.\n\n"
    for n in range(2, 14)
)
EXAM = "请你做下面的选择题，先写出你的思考过程，再在最后一行给出答案，答案只能是一个大写字母，不要写其他任何内容。" * 3
PAGE = (
    "Answer from this page alone.\n\n"
    + " ".join(f"On day {n} the river rose by {n * 3} cm." for n in range(30))
    + "\n\n"
)
CASES = {"few-shot": SHOTS + "Q: ", "exam": EXAM + "题目：", "document": PAGE + "Question: "}


def _requests(beginning: str) -> list[Request]:
    """Thirty chats of one user message each, which begin alike and go on differently."""
    return [
        Request(id=str(n), time_s=float(n), messages=(Message(role="user", content=f"{beginning}{n * n} 与 {n}? "),))
        for n in range(30)
    ]


@pytest.mark.parametrize("name", CASES)
async def test_what_all_share_is_found_planned_and_named(tmp_path: Path, name: str) -> None:
    files = find_model(write_model(tmp_path))
    assert files.rendering is not None
    assert files.tokenizer is not None
    tokenizer = load_tokenizer(files.tokenizer)
    renderer = renderer_for(files.rendering)
    requests = _requests(CASES[name])
    profile = count_tokens(mine(requests, renderer), tokenizer.counts)

    (shared,) = [node for node in profile.nodes if node.count == len(requests)]
    whole = "<|im_start|>user\n" + CASES[name]
    assert shared.text == whole[: len(whole) // BLOCK_CHARS * BLOCK_CHARS]
    assert "<|im_end|>" not in shared.text

    plan = await make_plan(profile, PlanSettings(), profile_hash="p")
    assert plan.items[0].text == shared.text
    assert plan.items[0].tokens == shared.tokens == len(tokenizer.encode(shared.text))

    names = [block_hashes(tokenizer.encode(renderer.render(request)), 16) for request in requests]
    of_shared = block_hashes(tokenizer.encode(shared.text)[:-1], 16)
    assert len(of_shared) > 3
    assert all(each[: len(of_shared)] == of_shared for each in names)
