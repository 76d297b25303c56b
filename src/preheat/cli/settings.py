"""Where settings come from: flags first, then the environment (``PREHEAT_<COMMAND>_<FLAG>``), then one TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from preheat.errors import BadInput


def defaults_from_toml(path: str | None) -> dict[str, Any]:
    """Tables by command, keys as flags are written: ``[up]`` then ``max-time = "5m"``.

    Without ``path``, ``./preheat.toml`` is read if there is one. Raises :class:`BadInput` for a file that is not
    there or not TOML.
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
    return {name: _flags(table) if isinstance(table, dict) else table for name, table in tables.items()}


def _flags(table: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("-", "_"): value for name, value in table.items()}
