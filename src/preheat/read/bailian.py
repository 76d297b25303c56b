"""Qwen-Bailian's traces: ``{"chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "type", "turn",
"hash_ids"}`` a line.

``timestamp`` is s from the trace's start. ``hash_ids`` are the prefix blocks, 16 tokens each. ``parent_chat_id`` is the
request that this one goes on from (-1: none), ``turn`` counts from 1 there and from 0 here. There is no text, and
``type`` (text, image, search...) is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from preheat.read.block_ids import block_tokens, name_of, traced
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "bailian"
BLOCK_TOKENS = 16
_NO_SIZE = "block ids that fit no size of block"


class Bailian:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            found = traced(record)
        except Unreadable as why:
            return why.message
        return "no chat id" if found.chat_id is None else None

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        found = traced(record)
        size = block_tokens(found, BLOCK_TOKENS)
        if size is None:
            report.note(_NO_SIZE)
        request = Request(
            id=name_of(found.chat_id) or where,
            time_s=found.timestamp,
            blocks=found.hash_ids,
            block_tokens=size,
            session=name_of(found.session_id),
            parent=name_of(found.parent_chat_id),
            turn=None if found.turn is None else max(0, found.turn - 1),
            input_tokens=found.input_length,
            output_tokens=found.output_length,
            source=where,
        )
        return (request,)
