"""Role marks of many templates come back as the same turns; text without any is one user's turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.classes.turns import ASSISTANT, SYSTEM, TOOL, USER, Turn, turns

WANT = [Turn(SYSTEM, "Be brief."), Turn(USER, "Hello?"), Turn(ASSISTANT, "Hi."), Turn(USER, "Name a river.")]
RENDERINGS = {
    "chatml": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello?<|im_end|>\n<|im_start|>assistant\nHi."
    "<|im_end|>\n<|im_start|>user\nName a river.<|im_end|>\n<|im_start|>assistant\n",
    "llama-3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|"
    "start_header_id|>user"
    "<|end_header_id|>\n\nHello?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHi.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nName a river.<|eot_id|><|start_header_id|>assistant<|"
    "end_header_id|>\n\n",
    "llama-2": "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHello? [/INST] Hi. </s><s>[INST] Name a river. [/INST]",
    "mistral": "<s>[SYSTEM_PROMPT] Be brief.[/SYSTEM_PROMPT][INST] Hello?[/INST] Hi.</s>[INST] Name a river.[/INST]",
    "phi": "<|system|>\nBe brief.<|end|>\n<|user|>\nHello?<|end|>\n<|assistant|>\nHi.<|end|>\n<|user|>\nName a "
    "river.<|end|>\n"
    "<|assistant|>\n",
    "harmony": "<|start|>system<|message|>Be brief.<|end|><|start|>user<|message|>Hello?<|end|><|start|>assistant"
    "<|channel|>final<|message|>Hi.<|end|><|start|>user<|message|>Name a river.<|end|><|start|>assistant",
    "deepseek": "<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hello?<｜Assistant｜>Hi.<｜end▁of▁sentence｜>"
    "<｜User｜>Name a river."
    "<｜Assistant｜>",
    "vicuna": "Be brief. USER: Hello? ASSISTANT: Hi.</s>USER: Name a river. ASSISTANT:",
    "alpaca": "Be brief.\n\n### Instruction:\nHello?\n\n### Response:\nHi.\n\n### Instruction:\nName a river.\n"
    "\n### Response:\n",
    "labels": "Be brief.\n\nHuman: Hello?\n\nAssistant: Hi.\n\nHuman: Name a river.\n\nAssistant:",
    "labels-zh": "Be brief.\n用户：Hello?\n助手：Hi.\n用户：Name a river.\n助手：",
}  # fmt: skip


@pytest.mark.parametrize("name", RENDERINGS)
def test_templates_come_back_as_the_same_turns(name: str) -> None:
    assert turns(RENDERINGS[name]) == WANT


def test_gemma_has_no_system_role() -> None:
    text = "<start_of_turn>user\nHello?<end_of_turn>\n<start_of_turn>model\nHi.<end_of_turn>\n"
    assert turns(text) == [Turn(USER, "Hello?"), Turn(ASSISTANT, "Hi.")]


def test_tools_have_turns_of_their_own() -> None:
    text = '[AVAILABLE_TOOLS] [{"name": "w"}][/AVAILABLE_TOOLS][INST] Weather?[/INST]'
    assert turns(text) == [Turn(TOOL, '[{"name": "w"}]'), Turn(USER, "Weather?")]


def test_an_unknown_role_is_a_users() -> None:
    assert turns("<|im_start|>critic\nNo.<|im_end|>\n") == [Turn(USER, "No.")]


@pytest.mark.parametrize(
    "text", ["Q: What? A: That.", "User: is a word", "### Results\nfine", "a: b", "10:30 at the gate"]
)
def test_text_without_marks_is_one_users_turn(text: str) -> None:
    assert turns(text) == [Turn(USER, text)]


def test_marks_inside_a_turn_are_its_text() -> None:
    inner = "User: hi\n\nAssistant: hello"
    assert turns(f"<|im_start|>user\n{inner}<|im_end|>\n") == [Turn(USER, inner)]


@given(st.text())
def test_no_turn_is_empty_and_none_is_longer_than_the_text(text: str) -> None:
    found = turns(text)
    assert all(turn.text for turn in found)
    assert sum(len(turn.text) for turn in found) <= len(text)
