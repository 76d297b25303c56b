"""Where settings come from: flags first, then the environment (``PREHEAT_<COMMAND>_<FLAG>``), then one TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from preheat.errors import BadInput


def tables_of(path: str | None, commands: list[str]) -> dict[str, dict[str, Any]]:
    """The file's tables by command: ``[up]`` then ``max-time = "5m"``, keys written as the flags are.

    Without ``path``, ``./preheat.toml`` is read if there is one. Raises :class:`BadInput` for a file that is not
    there or not TOML, and for a table that is no command's.
    """
    file = Path(path) if path else Path("preheat.toml")
    if path is None and not file.is_file():
        return {}
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}", "check --config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} is not TOML: {error}", "check its syntax") from None
    except RecursionError:
        raise BadInput(f"{file} is nested too deeply", "keep to one table per command") from None
    for name, table in tables.items():
        if name not in commands or not isinstance(table, dict):
            raise BadInput(f"{file}: {name!r} is not a command's table", f"write one of: [{'], ['.join(commands)}]")
    return tables


def defaults_for(command: click.Command, table: dict[str, Any], where: str) -> dict[str, Any]:
    """``table`` as click wants the defaults of ``command``. Raises :class:`BadInput` for a key that is no flag.

    A flag that may repeat takes a list or a single value. In the table of a command with subcommands, theirs are
    tables of their own; what is none goes to the one that runs without being named (``plan``).
    """
    if isinstance(command, click.Group):
        return _of_group(command, table, where)
    flags = {name.lstrip("-"): option for option in command.params for name in option.opts if name.startswith("--")}
    found: dict[str, Any] = {}
    for key, value in table.items():
        option = flags.get(key.replace("_", "-"))
        if option is None or option.name is None:
            raise BadInput(f"{where}: there is no flag --{key}", f"known are {', '.join(sorted(flags))}")
        several = isinstance(option, click.Option) and option.multiple
        found[option.name] = [value] if several and not isinstance(value, list) else value
    return found


def _of_group(group: click.Group, table: dict[str, Any], where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    unnamed = getattr(group, "unnamed", None)
    own = {key: value for key, value in table.items() if key not in group.commands}
    if own and unnamed is None:
        raise BadInput(f"{where}: {next(iter(own))!r} is none of its commands", f"it has {', '.join(group.commands)}")
    if own and unnamed is not None:
        found[unnamed] = defaults_for(group.commands[unnamed], own, where)
    for name, inner in table.items():
        if name in group.commands and isinstance(inner, dict):
            found[name] = found.get(name, {}) | defaults_for(group.commands[name], inner, f"{where[:-1]}.{name}]")
    return found
