"""Options that several commands share, and their types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from preheat.errors import BadInput
from preheat.records.units import parse_bytes, parse_seconds

F = TypeVar("F", bound=Callable[..., Any])


class Size(click.ParamType[Any]):
    """``4GiB`` → bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return value if isinstance(value, int) else parse_bytes(str(value))
        except BadInput as error:
            self.fail(str(error), param, ctx)


class Duration(click.ParamType[Any]):
    """``10m`` → seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value) if isinstance(value, int | float) else parse_seconds(str(value))
        except BadInput as error:
            self.fail(str(error), param, ctx)
        if seconds <= 0:
            self.fail("it must be more than nothing", param, ctx)
        return seconds


class SpeedType(click.ParamType[Any]):
    """A factor, ``auto`` (slowed where the engine needs it) or ``fastest`` (also faster than recorded)."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if value in ("auto", "fastest"):
            return str(value)
        try:
            speed = float(value)
        except (TypeError, ValueError):
            speed = 0.0
        if not 0 < speed < float("inf"):
            self.fail(f"{value!r} is not a speed: a number above 0, auto or fastest", param, ctx)
        return speed


class Number(click.ParamType[Any]):
    """A finite number above zero, or from zero on."""

    name = "float"

    def __init__(self, *, zero: bool = False) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = _number(value)
        if not math.isfinite(number) or number < 0 or (number == 0 and not self.zero):
            self.fail(f"{value!r} is not a number {'from 0 on' if self.zero else 'above 0'}", param, ctx)
        return number


class Share(click.ParamType[Any]):
    """A number from 0 to 1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        share = _number(value)
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not a share: a number from 0 to 1", param, ctx)
        return share


def _number(value: Any) -> float:
    """Not a number where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


class ResultFile(click.ParamType[Any]):
    """A path to write to; not ``-``, since results for people go to standard output."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if str(value) in ("-", ""):
            self.fail("a name is needed: standard output shows the result to people (or --json)", param, ctx)
        return str(value)


OUTPUT_TOKENS = click.IntRange(1, 100_000)


def output_options(function: F) -> F:
    """How results are shown."""
    for decorate in (
        click.option("--debug", is_flag=True, help="Show the whole trace of an error."),
        click.option("--quiet", is_flag=True, help="Say nothing but results and errors."),
        click.option(
            "--progress",
            type=click.Choice(["auto", "bar", "plain", "none"]),
            default="auto",
            show_default=True,
            help="Progress on stderr: a bar on a terminal, nothing in a pipe, unless told otherwise.",
        ),
        click.option("--json", is_flag=True, help="Print the result as JSON."),
    ):
        function = decorate(function)
    return function


def engine_options(function: F) -> F:
    """How to reach engines."""
    for decorate in (
        click.option(
            "--block-tokens",
            type=click.IntRange(1),
            default=16,
            show_default=True,
            help="Cache block of a generic OpenAI endpoint, which does not say it (OpenAI's own: 128).",
        ),
        click.option("--model-name", help="Model to ask the engine for (default: the first that it lists)."),
        click.option("--client-key", type=click.Path(exists=True), help="Key of the client certificate (PEM)."),
        click.option("--client-cert", type=click.Path(exists=True), help="Client certificate (PEM)."),
        click.option("--ca-cert", type=click.Path(exists=True), help="Certificate authorities to trust (PEM)."),
        click.option("--header", multiple=True, metavar="NAME:VALUE", help="Further HTTP header; may repeat."),
        click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the API key."),
        click.option(
            "--engine-kind",
            type=click.Choice(["llamacpp", "vllm", "openai"]),
            help="What the engine is, where it should not be asked.",
        ),
    ):
        function = decorate(function)
    return function


def log_format_option(function: F) -> F:
    return click.option("--format", help="Force the log's format instead of detecting it.")(function)


def template_option(function: F) -> F:
    return click.option(
        "--model",
        metavar="TOKENIZER",
        help="Chat template (and tokenizer) of a model: its folder, tokenizer.json, tokenizer_config.json, .jinja or "
        "GGUF file.",
    )(function)


def asked_engine_option(function: F) -> F:
    """An engine that is asked how it renders and counts; nothing is warmed."""
    return click.option("--engine", metavar="URL", help="Ask this engine for its chat template and its token counts.")(
        function
    )


def window_option(default: str = "300s") -> Callable[[F], F]:
    return click.option(
        "--window", type=Duration(), default=default, show_default=True, help="The cold window after the start."
    )
