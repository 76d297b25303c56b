"""The command line as it was typed, for the report, without what is secret in it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from preheat.prompts.redaction import redact

_HEADER = "--header"
_USER = re.compile(r"://[^/?#\s]*@")


def command_line(arguments: Sequence[str]) -> str:
    """``preheat up ...``: values of headers, and users and passwords in URLs, are ``***``."""
    shown: list[str] = []
    for number, argument in enumerate(arguments):
        if number and arguments[number - 1] == _HEADER:
            shown.append(_name_only(argument))
        elif argument.startswith(f"{_HEADER}="):
            shown.append(f"{_HEADER}={_name_only(argument.partition('=')[2])}")
        else:
            shown.append(redact(_USER.sub("://***@", argument)) if "://" in argument else argument)
    return shlex.join(["preheat", *shown])


def _name_only(header: str) -> str:
    name, colon, _ = header.partition(":")
    return f"{name}:***" if colon else "***"
