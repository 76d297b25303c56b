"""Prompts longer than the context are cut, as a gateway would have to, and counted as truncated."""

from __future__ import annotations

import msgspec

from preheat.prompts.chatml import content_text
from preheat.records.request import Request


def clip(request: Request, keep_share: float) -> Request:
    """Keep about ``keep_share`` of the prompt's characters: the prompt, or its longest messages, lose their ends.

    A message in parts is cut as the text of its parts. Tools are left as they are.
    """
    keep_share = max(0.0, keep_share)
    if request.prompt is not None:
        return msgspec.structs.replace(request, prompt=request.prompt[: int(len(request.prompt) * keep_share)])
    texts = [content_text(message.content) for message in request.messages]
    total = sum(map(len, texts))
    lose = total - int(total * keep_share)
    messages = list(request.messages)
    for index in sorted(range(len(texts)), key=lambda index: -len(texts[index])):
        if lose <= 0:
            break
        kept = texts[index][: max(0, len(texts[index]) - lose)]
        lose -= len(texts[index]) - len(kept)
        messages[index] = msgspec.structs.replace(messages[index], content=kept)
    return msgspec.structs.replace(request, messages=tuple(messages))
