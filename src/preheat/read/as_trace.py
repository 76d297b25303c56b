"""A log as an anonymous trace that others replay: Mooncake's or Bailian's form, ids of blocks in place of text.

Ids are numbers in order of first appearance, from 0, so that nothing of a text can be found again from them; equal
ids mean equal prefixes of one model and adapter, within the file. With a salt they are hashes of 53 bits keyed by it,
so that files made with the same salt can be laid side by side, and without it nobody can test a guess. Tenants,
sessions and request ids are left out; Bailian's chat ids are numbers.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from preheat.errors import BadInput
from preheat.prompts.render import PromptNotRenderable, Renderer
from preheat.read import bailian, mooncake
from preheat.read.accesses import Asked, asked_blocks
from preheat.records.request import Request
from preheat.records.target import ASSUMED_CHARS_PER_TOKEN

TRACE_FORMS = {mooncake.NAME: mooncake.BLOCK_TOKENS, bailian.NAME: bailian.BLOCK_TOKENS}
"""What can be written, and the tokens of a block there."""
_LOOKED_AT = 1_000
_ID_BITS = 53
"""Whole numbers that every JSON reader keeps exact (RFC 8259, 6)."""
_NO_PARENT = -1


@dataclass
class TraceReport:
    """What was written, and what had to be assumed. ``hit_rate`` is of blocks, in a cache without bounds."""

    form: str
    requests: int = 0
    blocks: int = 0
    distinct_blocks: int = 0
    hit_rate: float = 0.0
    block_tokens: int = 0
    block_chars: int | None = None
    chars_per_token: float | None = None
    estimated_lengths: int = 0
    fitted_lengths: int = 0
    without_output_length: int = 0
    without_time: int = 0
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Kept:
    """Of a request, what the trace tells beside its blocks."""

    id: str
    session: str | None
    parent: str | None
    turn: int | None
    input_tokens: int | None
    output_tokens: int | None


def trace_lines(
    requests: Iterable[Request],
    renderer: Renderer,
    form: str,
    *,
    block_tokens: int | None = None,
    salt: bytes | None = None,
) -> tuple[TraceReport, Iterator[dict[str, Any]]]:
    """The records of a trace, in order of time, and what it holds. All requests are read before the first record.

    ``form`` is a key of :data:`TRACE_FORMS`, ``block_tokens`` another size of block than is usual there; a log that is
    a trace already keeps its own. Raises :class:`BadInput` where the log has no blocks.
    """
    size = block_tokens or TRACE_FORMS[form]
    head = iter(requests)
    looked_at = list(itertools.islice(head, _LOOKED_AT))
    chars_per_token = _chars_per_token(looked_at, renderer)
    kept: list[_Kept] = []
    asked = asked_blocks(
        itertools.chain(looked_at, head),
        renderer,
        max(1, round(size * chars_per_token)),
        keep=lambda request: kept.append(_kept(request)),
        partial=True,
    )
    accesses = asked.accesses
    if not accesses.blocks:
        raise BadInput("no request of the log has a block", "give a log of prompts")
    report = TraceReport(
        form,
        requests=accesses.requests,
        blocks=accesses.blocks,
        distinct_blocks=accesses.distinct,
        hit_rate=1 - accesses.distinct / accesses.blocks,
        block_tokens=accesses.units if accesses.in_tokens else size,
        block_chars=None if accesses.in_tokens else accesses.units,
        chars_per_token=None if accesses.in_tokens else chars_per_token,
        without_time=int(np.isnan(accesses.times_s).sum()),
        left_out=asked.left_out,
    )
    ordered = [kept[number] for number in accesses.order.tolist()]
    return report, _records(asked, ordered, report, salt)


def _chars_per_token(requests: list[Request], renderer: Renderer) -> float:
    """Of the first requests that tell their tokens."""
    tokens = chars = 0
    for request in requests:
        if request.input_tokens and not request.truncated and (request.messages or request.prompt):
            try:
                chars += len(renderer.render(request))
            except PromptNotRenderable:
                continue
            tokens += request.input_tokens
    return chars / tokens if tokens and chars else ASSUMED_CHARS_PER_TOKEN


def _kept(request: Request) -> _Kept:
    return _Kept(request.id, request.session, request.parent, request.turn, request.input_tokens, request.output_tokens)


def _records(asked: Asked, kept: list[_Kept], report: TraceReport, salt: bytes | None) -> Iterator[dict[str, Any]]:
    accesses = asked.accesses
    ids = accesses.ids
    if salt is not None:
        ids = np.array([_keyed(int(name), salt) for name in accesses.names.tolist()], np.int64)[ids]
    times_s = _from_start(accesses.times_s)
    chats = _Chats(int(min((each.turn for each in kept if each.turn is not None), default=0) == 1))
    for number, request in enumerate(kept):
        blocks = ids[accesses.starts[number] : accesses.starts[number + 1]].tolist()
        length = _length(request, len(blocks), float(accesses.lengths[number]), report)
        report.without_output_length += request.output_tokens is None
        record: dict[str, Any] = {"timestamp": round(times_s[number] * 1000)}
        if report.form == bailian.NAME:
            chat, parent, turn = chats.place(request)
            record = {"chat_id": chat, "parent_chat_id": parent, "timestamp": round(times_s[number], 3)}
        record |= {"input_length": length, "output_length": request.output_tokens or 0}
        if report.form == bailian.NAME:
            record |= {"type": "text", "turn": turn}
        record["hash_ids"] = blocks
        if report.block_tokens != TRACE_FORMS[report.form]:
            record["block_size"] = report.block_tokens
        yield record


def _keyed(name: int, salt: bytes) -> int:
    digest = hashlib.blake2b(name.to_bytes(8, "little"), key=hashlib.sha256(salt).digest(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - _ID_BITS)


def _from_start(times_s: Any) -> list[float]:
    """Seconds from the first time; a request without one comes with the one before it, or one second apart in a log
    without any."""
    if np.isnan(times_s).all():
        return [float(number) for number in range(len(times_s))]
    start_s = latest_s = float(np.nanmin(times_s))
    found = []
    for time_s in times_s.tolist():
        latest_s = latest_s if time_s != time_s else time_s
        found.append(latest_s - start_s)
    return found


def _length(request: _Kept, blocks: int, length: float, report: TraceReport) -> int:
    """In tokens, such that ``blocks`` blocks hold it, the last of them in part."""
    size = report.block_tokens
    tokens = request.input_tokens
    if tokens is None:
        report.estimated_lengths += 1
        if report.block_chars is None or length != length:
            return blocks * size
        return -int(-length * size // report.block_chars)
    fitted = min(max(tokens, (blocks - 1) * size + 1), blocks * size) if blocks else 0
    report.fitted_lengths += fitted != tokens
    return fitted


class _Chats:
    """Numbers for requests, and which one each goes on from: its parent, else the last of its session. The log counts
    turns from ``first_turn``."""

    def __init__(self, first_turn: int) -> None:
        self._first_turn = first_turn
        self._numbers: dict[str, int] = {}
        self._latest: dict[str, tuple[int, int]] = {}
        self._count = 0

    def place(self, request: _Kept) -> tuple[int, int, int]:
        """``(chat_id, parent_chat_id, turn)``, the turn from 1."""
        number = self._count
        self._count += 1
        parent, turn = _NO_PARENT, 1
        if request.session is not None and request.session in self._latest:
            parent, turn = self._latest[request.session]
            turn += 1
        if request.parent is not None:
            parent = self._numbers.get(request.parent, parent)
        if request.turn is not None:
            turn = max(1, request.turn + 1 - self._first_turn)
        self._numbers[request.id] = number
        if request.session is not None:
            self._latest[request.session] = number, turn
        return number, parent, turn
