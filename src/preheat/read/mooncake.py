"""Mooncake's traces: ``{"timestamp", "input_length", "output_length", "hash_ids"}`` a line.

``timestamp`` is ms from the trace's start, always. ``hash_ids`` are the prefix blocks, 512 tokens each (another power
of two where the lengths say so), an id standing for its block and all before it. There is no text.
"""

from __future__ import annotations

from collections.abc import Iterable

from preheat.read.block_ids import block_tokens, name_of, traced
from preheat.read.json_framing import JSON_RECORDS
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "mooncake"
BLOCK_TOKENS = 512
_NO_SIZE = "block ids that fit no size of block"


class Mooncake:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            found = traced(record)
        except Unreadable as why:
            return why.message
        return "a chat id, which Mooncake's traces do not have" if found.chat_id is not None else None

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        found = traced(record)
        size = block_tokens(found, BLOCK_TOKENS)
        if size is None:
            report.note(_NO_SIZE)
        request = Request(
            id=where,
            time_s=None if found.timestamp is None else found.timestamp / 1000,
            blocks=found.hash_ids,
            block_tokens=size,
            session=name_of(found.session_id),
            input_tokens=found.input_length,
            output_tokens=found.output_length,
            source=where,
        )
        return (request,)
