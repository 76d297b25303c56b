"""OpenTelemetry traces and logs in Protocol Buffers: the same requests as in their JSON."""

from __future__ import annotations

from collections.abc import Iterable

from preheat.read.openai_odd import decode_object
from preheat.read.otlp_framing import OTLP_MESSAGES
from preheat.read.otlp_json import requests_in
from preheat.read.otlp_wire import export_of
from preheat.read.protobuf import Damaged
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "otlp-proto"
DAMAGED_SPAN = "a span or log record that is damaged"


class OTLPProto:
    """See the module."""

    name = NAME
    framing = OTLP_MESSAGES

    def refusal(self, record: bytes) -> str | None:
        try:
            return None if record[:1] == b"{" or export_of(record, lambda: None) else "a message without spans or logs"
        except Damaged:
            return "no OTLP message"

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        if record[:1] == b"{":  # the collector compresses and frames its JSON in the same way
            return requests_in(decode_object(record), where, report)
        try:
            export = export_of(record, lambda: report.skip(where, DAMAGED_SPAN))
        except Damaged:
            raise Unreadable("no OTLP message") from None
        return requests_in(export, where, report)
