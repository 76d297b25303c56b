"""Why a record is left out."""

from __future__ import annotations

import msgspec

from preheat.errors import BadInput

MISSHAPEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    msgspec.MsgspecError,
)
"""What reading a record of a shape that nobody thought of may raise. It costs that record, never the log."""
UNEXPECTED_SHAPE = "a record of unexpected shape"


class Unreadable(BadInput):
    """One record cannot be read as a request. The message is a reason to count by: short, and without numbers."""
