"""Why a record is left out."""

from __future__ import annotations

from preheat.errors import BadInput


class Unreadable(BadInput):
    """One record cannot be read as a request. The message is a reason to count by: short, and without numbers."""
