"""A rendered prompt back into turns, whichever chat template wrote it; text without role marks is one user's turn."""

from __future__ import annotations

import re
from typing import NamedTuple

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
_ROLES = {
    **dict.fromkeys(("system", "developer", "system_prompt", "sys"), SYSTEM),
    **dict.fromkeys(("user", "human", "inst", "instruction", "usuario", "benutzer", "nutzer", "用户", "人类"), USER),
    **dict.fromkeys(("assistant", "model", "ai", "bot", "gpt", "chatbot", "response", "/inst"), ASSISTANT),
    **dict.fromkeys(("asistente", "assistent", "助手", "助理"), ASSISTANT),
    **dict.fromkeys(("tool", "tools", "ipython", "function", "functions", "observation", "available_tools"), TOOL),
    **dict.fromkeys(("tool_calls", "tool_results", "tool_call", "tool_response"), TOOL),
}


class Turn(NamedTuple):
    """``role`` is one of system, user, assistant, tool."""

    role: str
    text: str


class _Dialect(NamedTuple):
    """``gate`` must occur for ``mark`` to be tried; the mark's group 1 is the role, ``ends`` close a turn."""

    gate: str
    mark: re.Pattern[str]
    ends: tuple[str, ...]


_BEGINS = ("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<BOS_TOKEN>")
_PLAIN = r"System|User|Human|Assistant|AI|Bot|Usuario|Asistente|Benutzer|Nutzer|Assistent|用户|人类|助手|助理"
_DIALECTS = (
    _Dialect("<|im_start|>", re.compile(r"<\|im_start\|>([^\n<]{0,40})\n?"), ("<|im_end|>",)),
    _Dialect(
        "<|start_header_id|>",
        re.compile(r"<\|start_header_id\|>([^\n<]{0,40})<\|end_header_id\|>"),
        ("<|eot_id|>", "<|eom_id|>"),
    ),
    _Dialect("<start_of_turn>", re.compile(r"<start_of_turn>([a-z]{0,20})\n?"), ("<end_of_turn>",)),
    _Dialect(
        "<|message|>",
        re.compile(r"<\|start\|>([a-z]{0,20})[^<]{0,80}(?:<\|channel\|>[a-z ]{0,20})?<\|message\|>"),
        ("<|end|>", "<|return|>", "<|call|>"),
    ),
    _Dialect(
        "<|END_OF_TURN_TOKEN|>",
        re.compile(r"<\|START_OF_TURN_TOKEN\|><\|([A-Z]{0,10})(?:_TOKEN\|>)"),
        ("<|END_OF_TURN_TOKEN|>",),
    ),
    _Dialect("<|user|>", re.compile(r"<\|(system|user|assistant|tool|observation)\|>\n?"), ("<|end|>", "</s>")),
    _Dialect("<｜User｜>", re.compile(r"<｜(User|Assistant|tool[^｜]{0,30})｜>"), ("<｜end▁of▁sentence｜>",)),
    _Dialect(
        "[INST]",
        re.compile(r"\[(/?INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"),
        ("</s>", "[/SYSTEM_PROMPT]", "[/AVAILABLE_TOOLS]", "[/TOOL_RESULTS]"),
    ),
    _Dialect("### ", re.compile(r"^### (System|User|Human|Assistant|Instruction|Response):?[ \t]*$\n?", re.M), ()),
    _Dialect("USER: ", re.compile(r"(?:^|(?<=[\s>]))(SYSTEM|USER|ASSISTANT): ?"), ("</s>",)),
    _Dialect(":", re.compile(rf"^({_PLAIN}): ?", re.M), ()),
    _Dialect("：", re.compile(rf"^({_PLAIN})： ?", re.M), ()),
)


def turns(prompt: str) -> list[Turn]:
    """The prompt's turns in order, without empty ones (such as the generation prompt)."""
    dialect = _dialect(prompt)
    if dialect is None:
        return [Turn(USER, prompt)] if prompt.strip() else []
    found: list[Turn] = []
    role, start = SYSTEM, 0
    for mark in dialect.mark.finditer(prompt):
        _add(found, role, prompt[start : mark.start()], dialect)
        role, start = _ROLES.get(mark[1].strip().lower(), USER), mark.end()
    _add(found, role, prompt[start:], dialect)
    return found


def _dialect(prompt: str) -> _Dialect | None:
    """The dialect whose mark comes first. Plain labels count only where the user's and the assistant's both occur."""
    best: tuple[int, _Dialect] | None = None
    for dialect in _DIALECTS:
        if dialect.gate not in prompt:
            continue
        if len(dialect.gate) <= 5:
            if best is not None:
                break
            roles = {_ROLES.get(mark[1].lower()) for mark in dialect.mark.finditer(prompt)}
            if not {USER, ASSISTANT} <= roles:
                continue
        mark = dialect.mark.search(prompt)
        if mark is not None and (best is None or mark.start() < best[0]):
            best = mark.start(), dialect
    return best[1] if best else None


def _add(found: list[Turn], role: str, text: str, dialect: _Dialect) -> None:
    for end in dialect.ends:
        place = text.find(end)
        if place >= 0:
            text = text[:place]
    if role == USER and "<<SYS>>" in text:
        head, _, text = text.partition("<</SYS>>")
        found.append(Turn(SYSTEM, head.replace("<<SYS>>", "").strip()))
    text = text.strip()
    for begin in _BEGINS if not found else ():
        text = text.removeprefix(begin)
    if text:
        found.append(Turn(role, text))
