"""Tool use: functions or commands are defined, called, or have answered."""

from __future__ import annotations

import re

from preheat.mine.classes.cues import Cues
from preheat.mine.classes.reading import Reading, bounded, has_any
from preheat.mine.classes.turns import ASSISTANT, TOOL

_SAID = Cues(
    any=(
        "<tools>|<available_tools>|namespace functions|<functions>|<tool_definition|action input|<tools_schema>|"
        '<tool_call>|<function_call>|python_tag|<function=|"tool_calls"|"tool_use"|"tooluse"|tool_result|tool▁call|'
        '"function":{|"function": {|"function_call"|<tool_response>'
    ),
    en=(
        "following tools|following functions|available tools|tools available|available functions|tool call|"
        "function call|calling functions|call the function|call a function|call a tool|one of the tools|"
        "use the tools|using the tools|list of functions|your tools are|tools you can use|access to tools"
    ),
    zh="工具调用|调用工具|可用工具|可用的工具|以下工具|下列工具|函数调用|调用函数|可用函数|可以使用的工具",
    de=(
        "verfügbare werkzeuge|verfügbaren werkzeuge|folgenden werkzeuge|folgende werkzeuge|verfügbaren tools|"
        "folgenden tools|folgende tools|werkzeuge zur verfügung|funktionsaufruf|folgenden funktionen"
    ),
    es=(
        "herramientas disponibles|siguientes herramientas|llamada a función|llamada a la función|llamar a la función|"
        "usar herramientas|siguientes funciones"
    ),
)
_PARAMETERS = re.compile(
    r'"(?:parameters|input_schema|inputschema|arguments|args|inputs|required_slots|operationid|arg_names)"\s*:'
)
_CALLS = ("tool_call", "function_call", '"function"', "python_tag", "action input:", "tool_use", "tooluse")
_COMMANDS = ("signature:", "docstring:", "arguments:")


def holds(reading: Reading) -> bool:
    """By a tool's turn, a call, a definition, or the words that tell of them."""
    if any(turn.role == TOOL for turn in reading.turns):
        return True
    if reading.system_says(_SAID) or reading.user_says(_SAID):
        return True
    return any(_defines(text) for text in (reading.system, *reading.asked)) or any(
        turn.role == ASSISTANT and has_any(bounded(turn.text, 200, 600).lower(), _CALLS) for turn in reading.turns
    )


def _defines(low: str) -> bool:
    """Functions as JSON or as a list of commands."""
    if '"description"' in low and '"name"' in low and _PARAMETERS.search(low):
        return True
    return all(cue in low for cue in _COMMANDS) or _intents(low)


def _intents(low: str) -> bool:
    """A service described by intents and slots, as task-oriented assistants have it."""
    return '"slots"' in low and ('"intents"' in low or '"service_name"' in low)
