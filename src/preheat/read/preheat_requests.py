"""What ``preheat read -o requests.jsonl`` writes, read back whole: one request a line, in Preheat's own fields.

Told by its fields: there are no others, and ``source`` says ``FILE:LINE``. All is kept but ``source``, which names the
line that was read now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import msgspec

from preheat.read.json_framing import JSON_RECORDS
from preheat.read.openai_odd import decode_object
from preheat.read.scalars import Count
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport, Request

NAME = "preheat-requests"
_PLACE = re.compile(r":[0-9]+(\[[0-9]+\])?(#[0-9]+)?")
_LAST_S = 253_402_300_800
"""The end of the year 9999."""
_NOT_OURS = "not a line of preheat read -o"


class _Written(Request, frozen=True, omit_defaults=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A request as it was written, in the only types that it is written in."""

    id: Annotated[str, msgspec.Meta(min_length=1)]
    source: str
    time_s: Annotated[float, msgspec.Meta(ge=-_LAST_S, lt=_LAST_S)] | None = None
    block_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    turn: Count | None = None
    max_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


_decode = msgspec.json.Decoder(_Written).decode
_FIELDS = tuple(name for name in Request.__struct_fields__ if name != "source")


class PreheatRequests:
    """See the module."""

    name = NAME
    framing = JSON_RECORDS

    def refusal(self, record: bytes) -> str | None:
        try:
            _written(record)
        except Unreadable as why:
            return why.message
        return None

    def requests(self, record: bytes, where: str, report: ReadReport) -> Iterable[Request]:
        written = _written(record)
        return (Request(source=where, **{name: getattr(written, name) for name in _FIELDS}),)


def _written(record: bytes) -> _Written:
    """Raises :class:`Unreadable` for anything else, and for a line that says of several things that they were asked."""
    try:
        found = _decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        decode_object(record)
        raise Unreadable(_NOT_OURS) from None
    start = found.source.rfind(":")
    asked = (bool(found.messages), found.prompt is not None, found.blocks is not None)
    if start < 0 or not _PLACE.fullmatch(found.source, start) or sum(asked) > 1:
        raise Unreadable(_NOT_OURS)
    if not any(asked) and found.input_tokens is None and not found.truncated:
        raise Unreadable("neither a prompt nor a length")
    return found
