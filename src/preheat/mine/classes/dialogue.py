"""Dialogue: a turn of the user follows one of the assistant."""

from __future__ import annotations

from preheat.mine.classes.reading import Reading
from preheat.mine.classes.turns import ASSISTANT, USER


def holds(reading: Reading) -> bool:
    """Tool results are no turn of the user's."""
    answered = False
    for turn in reading.turns:
        if turn.role == ASSISTANT:
            answered = True
        elif answered and turn.role == USER and not turn.text.startswith(('[{"type":"tool_result"', "[tool_result]")):
            return True
    return False
