"""Prompts exported as log records (OTLP logs) and not on their spans: the events of one span, put together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from preheat.read.spans import Attributes, Span, log_records_in, plain, plain_value, span_of

DETAILS = "gen_ai.client.inference.operation.details"
_PROMPTS = ("gen_ai.system.", "gen_ai.user.", "gen_ai.assistant.", "gen_ai.tool.", "gen_ai.content.", DETAILS)


def spans_of_logs(record: dict[str, Any]) -> Iterator[Span]:
    """A span for every span that the log records name: its attributes and events as far as the records tell them.

    Records without a span's id stand each for a call of their own when they hold a whole prompt (the details event);
    other log records are passed over. In the order in which the spans first occur.
    """
    found: dict[tuple[str | None, str | None, int], list[tuple[Span, tuple[str, Attributes]]]] = {}
    for number, (resource, entry) in enumerate(log_records_in(record)):
        span = span_of(entry, resource)
        name = str(entry.get("eventName") or entry.get("event_name") or span.attributes.get("event.name") or "")
        if name.startswith(_PROMPTS):
            key = (span.trace, span.ident, -1 if span.ident else number)
            found.setdefault(key, []).append((span, (name, {**span.attributes, **_body(entry)})))
    for events in found.values():
        first = events[0][0]
        attributes: Attributes = {}
        for span, (name, _) in events:
            attributes |= span.attributes if name == DETAILS else {}
        yield Span(
            attributes=attributes,
            resource=first.resource,
            events=[event for _, event in events],
            time_s=next((span.time_s for span, _ in events if span.time_s is not None), None),
            trace=first.trace,
            ident=first.ident,
            lost_attributes=any(span.lost_attributes for span, _ in events),
        )


def _body(entry: dict[str, Any]) -> Attributes:
    body = plain_value(entry.get("body"))
    if isinstance(body, dict):
        return plain(body)
    return {} if body is None else {"body": body}
