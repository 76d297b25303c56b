"""The command ``preheat``. Commands are loaded when they are called, so that ``--help`` is quick."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
from typing import Any

import click

from preheat import __version__
from preheat.cli.ending import end_now
from preheat.cli.show import one_line, shown
from preheat.cli.streams import open_missing, remark, silence
from preheat.errors import Interrupted, PreheatError

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("preheat.cli.up:up", "The whole job: learn from a log, warm an engine, prove it, report."),
    "read": ("preheat.cli.read:read", "Normalise and count a log; say what was skipped and why."),
    "mine": ("preheat.cli.mine:mine", "Log → profile: the prefixes that prompts share."),
    "merge": ("preheat.cli.merge:merge", "Profiles → one profile, as if mined at once."),
    "explain": ("preheat.cli.explain:explain", "Where one request's prefix breaks, and what it costs."),
    "simulate": ("preheat.cli.simulate:simulate", "Hit rate against cache size: policies, optimum and ceiling."),
    "plan": ("preheat.cli.plan:plan", "Profile + budget → plan; also 'plan show'."),
    "warm": ("preheat.cli.warm:warm", "Warm engines by a plan and verify by their own word."),
    "replay": ("preheat.cli.replay:replay", "Send a window of a log to an engine and measure."),
    "judge": ("preheat.cli.judge:judge", "Runs → evidence.json, report.html, and a table."),
    "sandbox": ("preheat.cli.sandbox:sandbox", "An engine without a model, for trying things out."),
}
"""Name → (module:attribute, one line of help), in the order of the pipeline."""

EXIT_CODES = """Exit codes: 0 done; 2 usage or bad input; 3 done, but a promise was missed; 4 engine unreachable;
5 refused (infeasible budget); 130 interrupted, state saved; 1 a bug of ours."""


class _PipeClosed(Exception):
    """Standard output is a pipe that nobody reads any more."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they run; help lists them from the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Left to itself, click answers an interrupt with an empty line and a closed pipe with exit code 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except BrokenPipeError as error:
            raise _PipeClosed from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "PREHEAT", "max_content_width": 100},
)
@click.version_option(__version__, "--version", prog_name="preheat")
@click.option("--config", type=click.Path(dir_okay=False), help="TOML file with defaults (else ./preheat.toml).")
@click.pass_context
def app(ctx: click.Context, config: str | None) -> None:
    """Warm the caches of generative-AI services before their users arrive, and prove it."""
    from preheat.cli.settings import defaults_for, tables_of

    name = ctx.invoked_subcommand or ""
    table = tables_of(config, list(COMMANDS)).get(name)
    command = app.get_command(ctx, name)
    if table is not None and command is not None:
        ctx.default_map = {name: defaults_for(command, table, f"{config or 'preheat.toml'} [{name}]")}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with the documented exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    open_missing()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)  # so that temporary files go, and the exit code is the documented one
    code = run_line(arguments, debug="--debug" in arguments)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody is left to read it
            silence(stream)
    sys.exit(code)


def _interrupt(number: int, frame: object) -> None:
    """The first signal ends the work in good order; a second one while that lasts ends the process."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, frame: end_now("interrupted"))
    raise KeyboardInterrupt


def run_line(arguments: list[str], *, debug: bool) -> int:
    """One command line, to its exit code; errors are one line on standard error, unless ``debug`` lets them through."""
    try:
        result: Any = app.main(args=arguments, prog_name="preheat", standalone_mode=False, obj=arguments)
        sys.stdout.flush()
    except PreheatError as fault:
        if debug:
            raise
        remark(f"preheat: {one_line(fault)}")
        return fault.exit_code
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        remark("preheat: interrupted")
        return 130
    except click.exceptions.Exit as ended:
        return int(ended.exit_code)
    except (BrokenPipeError, _PipeClosed):  # whoever read our output has seen enough
        silence(sys.stdout)
        return 0
    except OSError as error:
        if debug:
            raise
        silence(sys.stdout)
        what = error.filename or "standard output"
        remark(f"preheat: cannot use {what}: {error.strerror} (check the disk and the path)")
        return 2
    except Exception as bug:
        if debug:
            raise
        what = shown(f"{type(bug).__name__}: {bug}")
        remark(f"preheat: this is a bug of ours: {what} (run again with --debug and report the trace)")
        return 1
    return result if isinstance(result, int) else 0
