"""OpenAI's wire, as vLLM speaks it: bodies of requests in, bodies of replies and chunks out."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from preheat.errors import BadInput, EngineRejected
from preheat.records.request import Message, Request
from preheat.sandbox.chat import prompt_text
from preheat.sandbox.engine import SandboxEngine, Served, Token

COMPLETION_DEFAULT_TOKENS = 16
"""What ``/v1/completions`` generates where the caller sets no limit (OpenAI's API, vLLM)."""


class StreamOptions(msgspec.Struct, frozen=True):
    """Of a streamed reply: whether a last chunk tells the usage."""

    include_usage: bool = False


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of both completion calls and of ``/tokenize`` that matter here; all others are ignored."""

    model: str | None = None
    messages: tuple[Message, ...] | None = None
    tools: list[Any] | None = None
    prompt: Any = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    cache_salt: str | None = None
    n: int | None = 1
    add_generation_prompt: bool = True


def parse_body(raw: bytes) -> Body:
    """A request body. Raises :class:`EngineRejected` for anything that is not one."""
    try:
        return msgspec.json.decode(raw, type=Body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EngineRejected(f"the request body is not valid: {error}") from error


def token_ids_of(body: Body, core: SandboxEngine, *, chat: bool) -> list[int]:
    """The prompt's tokens: of the rendered chat, of a text, or as given. Raises :class:`EngineRejected`."""
    if chat:
        if body.messages is None:
            raise EngineRejected("field 'messages' is required")
        request = Request(id="", messages=body.messages, tools=body.tools)
        try:
            return core.tokenize(prompt_text(request, body.add_generation_prompt))
        except BadInput as error:
            raise EngineRejected(error.message) from error
    prompt = body.prompt
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], (str, list)):
        prompt = prompt[0]
    if isinstance(prompt, str):
        return core.tokenize(prompt)
    if isinstance(prompt, list) and all(type(token) is int and 0 <= token < 2**63 for token in prompt):
        return prompt
    raise EngineRejected("field 'prompt' must be one text or one list of token ids")


def answer_limit_of(body: Body, *, chat: bool) -> int | None:
    """The caller's limit on the answer, in tokens. Raises :class:`EngineRejected` where it is below 1 (as vLLM)."""
    limit = body.max_completion_tokens if body.max_completion_tokens is not None else body.max_tokens
    if limit is None:
        return None if chat else COMPLETION_DEFAULT_TOKENS
    if limit < 1:
        raise EngineRejected(f"max_tokens must be at least 1, got {limit}.")
    return limit


class Reply:
    """Writes one completion's reply: chunks while it streams, or one body at its end."""

    def __init__(self, number: int, model: str, *, chat: bool, report_cached: bool) -> None:
        self._chat = chat
        self._report_cached = report_cached
        self._head: dict[str, Any] = {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{number}",
            "object": "chat.completion.chunk" if chat else "text_completion",
            "created": int(time.time()),
            "model": model,
        }

    def chunk(self, token: Token) -> bytes:
        """The server-sent event of one token; a chat's first also carries the role."""
        if not self._chat:
            return self._event([self._choice("text", token.text, token.finish_reason)])
        event = self._event([self._choice("delta", {"content": token.text}, token.finish_reason)])
        if token.index:
            return event
        return self._event([self._choice("delta", {"role": "assistant", "content": ""}, None)]) + event

    def usage_chunk(self, served: Served, answer_tokens: int) -> bytes:
        """The event after the last token, where the caller asked for the usage."""
        return self._event([], usage=self._usage(served, answer_tokens))

    def whole(self, tokens: list[Token]) -> bytes:
        """The body of a reply that is not streamed."""
        text, last = "".join(token.text for token in tokens), tokens[-1]
        if self._chat:
            choice = self._choice("message", {"role": "assistant", "content": text}, last.finish_reason)
        else:
            choice = self._choice("text", text, last.finish_reason)
        kind = "chat.completion" if self._chat else "text_completion"
        usage = self._usage(last.served, len(tokens))
        return msgspec.json.encode({**self._head, "object": kind, "choices": [choice], "usage": usage})

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        return b"data: " + msgspec.json.encode({**self._head, "choices": choices, **more}) + b"\n\n"

    def _choice(self, field: str, value: Any, finish_reason: str | None) -> dict[str, Any]:
        return {"index": 0, field: value, "logprobs": None, "finish_reason": finish_reason}

    def _usage(self, served: Served, answer_tokens: int) -> dict[str, Any]:
        details = {"cached_tokens": served.cached_tokens} if self._report_cached else None
        return {
            "prompt_tokens": served.prompt_tokens,
            "completion_tokens": answer_tokens,
            "total_tokens": served.prompt_tokens + answer_tokens,
            "prompt_tokens_details": details,
        }
