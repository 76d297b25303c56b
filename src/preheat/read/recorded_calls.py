"""Recorded calls of provider APIs, one a line: ``{"method", "uri" or "url", "request", "status", "response"}``.

Proxies and test recorders write such envelopes. OpenAI's dialect (whoever serves it), Anthropic's and Ollama's are
read; calls of other dialects and of other kinds of model are counted by what they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from preheat.read.json_framing import JSON_RECORDS
from preheat.read.nested import decoded
from preheat.read.openai_odd import decode_object, requests_in
from preheat.read.prompt_value import KEPT_ELSEWHERE
from preheat.read.scalars import as_number
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "api-calls"
_OTHER_KINDS = {
    "embed": "an embeddings call",
    "/images/": "an image call",
    "/audio/": "a speech call",
    "/moderations": "a moderation call",
    "/rerank": "a rerank call",
    "/guardrails/": "a guardrail call",
    "/count_tokens": "a call that counts tokens",
}
"""By a part of the path."""
_OTHER_DIALECTS = {
    "bedrock": "a Bedrock call",
    "aiplatform.googleapis": "a Gemini call",
    "generativelanguage.googleapis": "a Gemini call",
    "cohere": "a Cohere call",
    "replicate": "a Replicate call",
    "aleph-alpha": "an Aleph Alpha call",
    "cloud.ibm": "a watsonx call",
}
"""By a part of the host."""
_TEMPORARY = (408, 409, 425, 429)
_ENVELOPE = ("method", "uri", "url", "request", "response", "status")
_EVENT_LIMIT = 10_000
Fields = dict[str, Any]


class RecordedCalls:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            whole = decode_object(record)
        except Unreadable as why:
            return why.message
        return None if _is_call(whole) else "no recorded API call"

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        whole = decode_object(record)
        if not _is_call(whole):
            raise Unreadable("no recorded API call")
        return requests_in(_as_line(whole), where, report)


def _is_call(record: Fields) -> bool:
    return isinstance(record.get("method"), str) and _address(record) is not None and "request" in record


def _address(record: Fields) -> str | None:
    return next((record[name] for name in ("uri", "url") if isinstance(record.get(name), str)), None)


def _as_line(record: Fields) -> Fields:
    """The call as an OpenAI-style line with the request's body in it. Raises :class:`Unreadable`."""
    address = urlsplit(_address(record) or "")
    host, path = address.netloc.lower(), address.path.rstrip("/").lower()
    body = decoded(record.get("request"))
    for named, text in ((_OTHER_KINDS, path), (_OTHER_DIALECTS, host)):
        for part, reason in named.items():
            if part in text:
                raise Unreadable(reason)
    if not isinstance(body, dict) or not body:
        raise Unreadable("a call without a body")
    status = as_number(record.get("status"))
    if status is not None and 400 <= status < 500 and status not in _TEMPORARY:
        raise Unreadable("a call that was refused (HTTP 4xx)")
    if body.get("conversation"):
        raise Unreadable(KEPT_ELSEWHERE)
    if isinstance(body.get("prompt"), dict):
        raise Unreadable("a call of a prompt that the provider keeps")
    beside = {name: value for name, value in record.items() if name not in _ENVELOPE}
    return {**_told_by(record.get("response")), **beside, "url": path, "body": _ollama(body, path)}


def _ollama(body: Fields, path: str) -> Fields:
    """Ollama's options where OpenAI has its parameters, and a prompt that it puts into the model's template as chat."""
    if not path.endswith(("/api/chat", "/api/generate")):
        limit = body.get("max_tokens_to_sample")
        return body if limit is None else {"max_tokens": limit, **body}
    options = body.get("options")
    options = options if isinstance(options, dict) else {}
    kept = {name: value for name, value in {**body, **options}.items() if value not in (None, "", [], {})}
    if options.get("num_predict") is not None:
        kept["max_tokens"] = options["num_predict"]
    if "prompt" in kept and not kept.get("raw"):
        system = [{"role": "system", "content": kept.pop("system")}] if "system" in kept else []
        kept["messages"] = [*system, {"role": "user", "content": kept.pop("prompt")}]
    return kept


def _told_by(response: Any) -> Fields:
    """What the answer says of the call: its id, when it was, and how many tokens it took. Never what was answered."""
    found: Fields = {}
    usage: Fields = {}
    for event in _events(response):
        for holder in (event, event.get("response"), event.get("message")):
            if isinstance(holder, dict):
                said = {"id": holder.get("id"), "created": holder.get("created", holder.get("created_at"))}
                found = {name: value for name, value in said.items() if value} | found  # a time of 0 is none
                usage |= holder["usage"] if isinstance(holder.get("usage"), dict) else {}
    told = {name: value for name, value in found.items() if isinstance(value, str | int | float)}
    counts = {name: value for name, value in usage.items() if isinstance(value, int) and not isinstance(value, bool)}
    if "cache_read_input_tokens" in counts or "cache_creation_input_tokens" in counts:
        cached = (counts.get(f"cache_{done}_input_tokens", 0) for done in ("read", "creation"))
        counts["input_tokens"] = counts.get("input_tokens", 0) + sum(cached)
    return {**told, "usage": counts} if counts else told


def _events(response: Any) -> list[Fields]:
    """The answer, or of a stream of events the first and those that tell what was used."""
    response = decoded(response)
    if isinstance(response, dict):
        return [response]
    if not isinstance(response, str):
        return []
    lines = [line[5:] for line in response.split("\n", _EVENT_LIMIT) if line.startswith("data:")]
    told = [line for number, line in enumerate(lines) if number == 0 or '"usage"' in line]
    return [event for line in told if isinstance(event := decoded(line.strip()), dict)]
