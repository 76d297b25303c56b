"""Langfuse exports: a trace with its observations, lists of observations, and flat rows with their input as JSON text.

The requests are the observations of type GENERATION that carry a prompt. Where one of them is another's child, as
when an SDK's outer call and its inner one were both noted, only the inner one reached an engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from preheat.read import gen_ai
from preheat.read.csv_framing import CSV_ROWS
from preheat.read.flat_attributes import NO_BEGINNING
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.nested import decoded
from preheat.read.nested_calls import Seen, around_others
from preheat.read.openai_odd import decode_object
from preheat.read.prompt_value import Asked, understood
from preheat.read.scalars import as_name, as_number, as_whole
from preheat.read.span_fields import LIMIT_NAMES, fields_of, sampling_of
from preheat.read.spans import Span, plain
from preheat.read.times import seconds
from preheat.read.tool_forms import tools_of
from preheat.read.unreadable import MISSHAPEN, UNEXPECTED_SHAPE, Unreadable
from preheat.records.request import Message, ReadReport, Request

NAME = "langfuse"
_TYPES = (
    "GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL".split()  # noqa: SIM905
)
_AROUND = "an observation around a model call that has its own"
_NOT_OURS = "no Langfuse observations"
Fields = dict[str, Any]


class Langfuse:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            whole = decode_object(record)
        except Unreadable as why:
            return why.message
        return None if _observations(whole) is not None else _NOT_OURS

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        return _read(decode_object(record), where, report)


class LangfuseRows:
    """Its tables as CSV: an observation a row, input and metadata as JSON text."""

    name = "langfuse-csv"
    framing = CSV_ROWS

    def refusal(self, record: Mapping[str, Any]) -> str | None:
        return None if _is_observation(dict(record)) else _NOT_OURS

    def requests(self, record: Mapping[str, Any], where: str, report: ReadReport) -> Iterable[Request]:
        return _read(dict(record), where, report)


def _read(record: Fields, where: str, report: ReadReport) -> Iterator[Request]:
    observations = _observations(record)
    if observations is None:
        raise Unreadable(_NOT_OURS)
    inner = record.get("trace")
    trace = inner if isinstance(inner, dict) else record if "observations" in record else {}
    return _requests(observations, trace, where, report)


def _observations(record: Fields) -> list[Fields] | None:
    """The observations in a record of any of the shapes; ``None`` where it has another."""
    for name in ("observations", "data"):
        listed = decoded(record.get(name))
        if isinstance(listed, list):
            found = [entry for entry in listed if isinstance(entry, dict)]
            if name == "observations" or any(map(_is_observation, found)):
                return found if found or not listed else None
    return [record] if _is_observation(record) else None


def _is_observation(record: Fields) -> bool:
    return str(record.get("type")).upper() in _TYPES and _first(record, "traceId", "trace_id") is not None


def _requests(observations: list[Fields], trace: Fields, where: str, report: ReadReport) -> Iterator[Request]:
    found: list[tuple[str, Request | None, Seen | None]] = []
    for number, observation in enumerate(observations):
        place = where if len(observations) == 1 else f"{where}#{number}"
        request, seen = None, None
        try:
            request, seen = _request(observation, trace, place), _seen(observation)
        except Unreadable as why:
            report.skip(place, why.message)
        except MISSHAPEN:
            report.skip(place, UNEXPECTED_SHAPE)
        found.append((place, request, seen))
    outer = around_others([seen for _, _, seen in found])
    for number, (place, request, _) in enumerate(found):
        if number in outer:
            report.skip(place, _AROUND)
        elif request is not None:
            yield request


def _request(observation: Fields, trace: Fields, where: str) -> Request:
    if str(observation.get("type") or "").upper() != "GENERATION":
        raise Unreadable("an observation that is not a model call")
    span = _as_span(observation)
    asked, tools = _asked(observation, span)
    if asked.messages and asked.messages[0].role == "tool":
        raise Unreadable(NO_BEGINNING)
    parameters = decoded(_first(observation, "modelParameters", "model_parameters"))
    given = {**asked.given, **(parameters if isinstance(parameters, dict) else {})}
    said = fields_of(span, given)
    inputs, outputs = _usage(observation)
    limit = as_whole(next((number for name in LIMIT_NAMES if (number := _number(given.get(name))) is not None), None))
    temperature = _number(given.get("temperature"))
    parent = _first(observation, "parentObservationId", "parent_observation_id")
    trace_id, ident = _first(observation, "traceId", "trace_id"), as_name(observation.get("id"))
    return Request(
        id="-".join(filter(None, map(as_name, (trace_id, ident)))) if ident else where,
        time_s=seconds(_first(observation, "startTime", "start_time", "timestamp")),
        messages=asked.messages,
        prompt=asked.prompt,
        tools=tools,
        truncated=asked.truncated,
        model=said["model"] or as_name(_first(observation, "model", "provided_model_name", "providedModelName")),
        adapter=said["adapter"],
        tenant=said["tenant"] or _owner(observation, trace, "userId", "user_id", "traceUserId", "trace_user_id"),
        session=_owner(observation, trace, "sessionId", "session_id", "traceSessionId", "trace_session_id")
        or said["session"],
        parent="-".join(filter(None, map(as_name, (trace_id, parent)))) if parent else None,
        temperature=said["temperature"] if temperature is None else temperature,
        sampling=sampling_of(span.attributes, given),
        max_tokens=limit if limit is not None and limit > 0 else None,
        input_tokens=inputs if inputs is not None else said["input_tokens"],
        output_tokens=outputs if outputs is not None else said["output_tokens"],
        source=where,
    )


def _as_span(observation: Fields) -> Span:
    """The attributes that came with an observation over OpenTelemetry, which Langfuse keeps in its metadata."""
    found = decoded(observation.get("metadata"))
    metadata = found if isinstance(found, dict) else {}
    attributes = plain(decoded(metadata.get("attributes")))
    resource = plain(decoded(metadata.get("resourceAttributes")))
    beside = {name: value for name, value in metadata.items() if name not in ("attributes", "resourceAttributes")}
    return Span(attributes={**beside, **attributes}, resource=resource)


def _asked(observation: Fields, span: Span) -> tuple[Asked, list[Any] | None]:
    """The prompt of the observation's input, else of the attributes that it came with; and the tools of either."""
    given = observation.get("input")
    try:
        if given in (None, "", "null", [], {}):
            raise Unreadable("an observation without a prompt")
        asked = understood(given)
    except Unreadable:
        elsewhere = gen_ai.asked(span)
        if elsewhere is None:
            raise
        asked = elsewhere
    messages, mentioned = _tools_apart(asked.messages)
    defined = tools_of(_first(observation, "toolDefinitions", "tool_definitions"))
    tools = asked.tools or mentioned or gen_ai.tools(span) or defined
    return msgspec.structs.replace(asked, messages=messages), tools


def _tools_apart(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], list[Any] | None]:
    """Langfuse's LangChain handler writes the tools that are offered as messages of the role ``tool``."""
    kept, tools = list[Message](), list[Any]()
    for message in messages:
        part = message.content[0] if isinstance(message.content, list) and len(message.content) == 1 else None
        if message.role == "tool" and isinstance(part, dict) and isinstance(part.get("function"), dict):
            tools.append(part)
        else:
            kept.append(message)
    if tools and not kept:
        raise Unreadable("no messages")
    return tuple(kept), tools or None


def _owner(observation: Fields, trace: Fields, *names: str) -> str | None:
    return as_name(_first(observation, *names)) or as_name(_first(trace, *names))


def _usage(observation: Fields) -> tuple[int | None, int | None]:
    """Tokens in and out; an observation without any usage at all says nothing, not zero."""
    for name in ("usageDetails", "usage_details", "usage"):
        usage = decoded(observation.get(name))
        if isinstance(usage, dict) and usage:
            found = [
                next((number for key in keys if (number := _number(usage.get(key))) is not None), None)
                for keys in (("input", "promptTokens", "prompt_tokens"), ("output", "completionTokens"))
            ]
            if any(found):
                return as_whole(found[0]), as_whole(found[1])
    return None, None


def _number(value: Any) -> float | None:
    if not isinstance(value, str):
        return as_number(value)
    try:
        return as_number(float(value))
    except ValueError:
        return None


def _seen(observation: Fields) -> Seen:
    return Seen(
        as_name(_first(observation, "traceId", "trace_id")),
        as_name(observation.get("id")),
        as_name(_first(observation, "parentObservationId", "parent_observation_id")),
        seconds(_first(observation, "startTime", "start_time")),
        seconds(_first(observation, "endTime", "end_time")),
    )


def _first(holder: Fields, *names: str) -> Any:
    return next((holder[name] for name in names if holder.get(name) not in (None, "")), None)
