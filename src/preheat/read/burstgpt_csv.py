"""BurstGPT: ``Timestamp, Session ID, Elapsed time, Model, Request tokens, Response tokens, Total tokens, Log Type``.

Arrivals (s from the first day's midnight), lengths, model and, in newer releases, the conversation. Requests that
failed have no response tokens, and are kept: they did arrive.
"""

from __future__ import annotations

from preheat.read.csv_framing import CSV_ROWS
from preheat.read.tables import Table


class BurstGPTCSV(Table):
    """See the module."""

    def __init__(self) -> None:
        super().__init__(
            "burstgpt-csv", CSV_ROWS, frozenset({"timestamp", "model", "request_tokens", "response_tokens"})
        )
