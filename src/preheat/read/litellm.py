"""LiteLLM: its standard logging payload (as callbacks and object stores get it), and rows of the proxy's spend log.

Both have ``call_type``, ``startTime`` and token counts. The payload has ``messages`` and ``model_parameters`` (with the
tools); a spend-log row has the prompt in ``messages`` or ``proxy_server_request`` where the proxy was told to store it,
and is an arrival with its lengths where it was not. Tenant: the team, organisation, key or user that the key belongs
to. Session: ``session_id``, else ``trace_id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from preheat.read.json_framing import JSON_RECORDS
from preheat.read.openai_odd import decode_object, requests_in
from preheat.read.scalars import as_number, as_whole
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "litellm"
_MARKS = ("startTime", "model_group", "custom_llm_provider", "hidden_params", "spend")
_TENANTS = (
    *("user_api_key_team_alias", "user_api_key_team_id", "user_api_key_org_id", "user_api_key_alias"),
    *("user_api_key_user_id", "user_api_key_end_user_id"),
)
_NO_PROMPTS = ("embedding", "image", "transcription", "speech", "moderation", "rerank", "file", "batch", "vector_store")
_REDACTED = "redacted-by-litellm"


class LiteLLM:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            given = decode_object(record)
        except Unreadable as why:
            return why.message
        is_ours = isinstance(given.get("call_type"), str) and any(name in given for name in _MARKS)
        return None if is_ours else "no call of LiteLLM's"

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        given = decode_object(record)
        call = str(given.get("call_type") or "")
        if any(kind in call for kind in _NO_PROMPTS):
            raise Unreadable("an embedding or other request without a prompt")
        asked = _asked(given)
        counted = as_whole(as_number(given.get("prompt_tokens"))) is not None
        return requests_in({**_frame(given), **asked}, where, report, may_be_silent=not asked and counted)


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked, where an OpenAI-style record has it; nothing where LiteLLM did not keep it."""
    messages = _decoded(given.get("messages"))
    if messages == _REDACTED or (isinstance(messages, list) and _REDACTED in str(messages[:1])):
        raise Unreadable("a prompt that LiteLLM has redacted")
    if isinstance(messages, dict) and messages:
        return {"body": messages}
    if isinstance(messages, list) and messages:
        return {"messages": messages}
    if isinstance(messages, str) and messages:
        return {"prompt": messages}
    body = _decoded(given.get("proxy_server_request"))
    return {"body": body} if isinstance(body, dict) and body else {}


def _frame(given: Mapping[str, Any]) -> dict[str, Any]:
    """Everything else."""
    parameters = _decoded(given.get("model_parameters"))
    metadata = _decoded(given.get("metadata"))
    said = metadata if isinstance(metadata, dict) else {}
    tenants = (given.get("team_id"), *(said.get(name) for name in _TENANTS), given.get("end_user"), given.get("user"))
    return {
        **(parameters if isinstance(parameters, dict) else {}),
        "request_id": given.get("id") or given.get("request_id"),
        "timestamp": given.get("startTime") or given.get("start_time"),
        "model": given.get("model") or given.get("model_group"),
        "tenant": next((tenant for tenant in tenants if tenant), None),
        "session_id": given.get("session_id") or said.get("session_id") or given.get("trace_id"),
        "metadata": said,
        "usage": {"prompt_tokens": given.get("prompt_tokens"), "completion_tokens": given.get("completion_tokens")},
    }


def _decoded(value: Any) -> Any:
    """Spend logs that were exported from the database hold their objects as JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            raise Unreadable("a prompt whose JSON does not parse (cut off?)") from None
    return value
