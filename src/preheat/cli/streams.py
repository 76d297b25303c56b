"""Standard input, output and error as they really are: closed, broken, or unable to show every character."""

from __future__ import annotations

import contextlib
import io
import os
import sys

import click


def open_missing() -> None:
    """Put the null device where a standard stream was closed (``>&-``), so that no file of ours takes its number.

    What an encoding cannot show is replaced.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def remark(line: str) -> None:
    """One line on standard error; where nobody can read it, the work goes on."""
    with contextlib.suppress(OSError, ValueError):
        click.echo(line, err=True)


def silence(stream: object) -> None:
    """What is still unwritten goes nowhere, so that the interpreter does not try once more at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[attr-defined]
        os.close(null)
