"""Azure's LLM inference traces (2023, 2024): ``TIMESTAMP, ContextTokens, GeneratedTokens``.

Arrivals and lengths, nothing else; times without a zone are taken as UTC.
"""

from __future__ import annotations

from preheat.read.csv_framing import CSV_ROWS
from preheat.read.tables import Table


class AzureCSV(Table):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("azure-csv", CSV_ROWS, frozenset({"timestamp", "contexttokens", "generatedtokens"}))
