"""CSV and TSV with a header: what a column says is told by its name.

Columns are recognised for the request (``messages``, ``prompt``, or a whole ``body`` as JSON; a ``system`` prompt and
``tools`` beside it), id, time, tenant, user, session, parent, turn, model, adapter, temperature, limit, token counts
and sampling parameters, each under the names that :data:`preheat.read.columns.ROLES` lists, in any case and with any
separator. A table with times and lengths but no column of text is a trace of arrivals. Empty cells say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from preheat.read.columns import plain, refusal_of, requests_in_row
from preheat.read.framing import Framing
from preheat.records.request import ReadReport, Request

Row = Mapping[str, Any]


class Table:
    """Rows of either framing. With ``columns`` it takes only tables that have all of them: a known trace."""

    def __init__(self, name: str, framing: Framing[Any], columns: frozenset[str] = frozenset()) -> None:
        self.name = name
        self.framing = framing
        self._columns = columns

    def refusal(self, record: Row) -> str | None:
        if not self._columns:
            return refusal_of(tuple(record))
        missing = self._columns - {plain(name) for name in record}
        return f"no column {', '.join(sorted(missing))}" if missing else None

    def requests(self, record: Row, where: str, report: ReadReport) -> Iterable[Request]:
        return requests_in_row(record, where, report)
