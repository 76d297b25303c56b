"""Prompts longer than the context are cut at their end, as a gateway would have to, and counted as truncated."""

from __future__ import annotations

import msgspec

from preheat.records.request import Request


def clip(request: Request, keep_share: float) -> Request:
    """Keep about ``keep_share`` of the prompt's characters: the longest message (or the prompt) loses its end."""
    if request.prompt is not None:
        return msgspec.structs.replace(request, prompt=request.prompt[: int(len(request.prompt) * keep_share)])
    texts = [message.content if isinstance(message.content, str) else "" for message in request.messages]
    total = sum(map(len, texts))
    longest = max(range(len(texts)), key=lambda index: len(texts[index]), default=-1)
    if longest < 0:
        return request
    lose = total - int(total * keep_share)
    kept = texts[longest][: max(0, len(texts[longest]) - lose)]
    messages = list(request.messages)
    messages[longest] = msgspec.structs.replace(messages[longest], content=kept)
    return msgspec.structs.replace(request, messages=tuple(messages))
