"""Whether a command may write where it was told to: never over what it reads, nor two results into one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from preheat.errors import BadInput
from preheat.files.compressed import STDIN
from preheat.files.locate import locate
from preheat.files.objects import is_url


def refuse_overwriting(
    outputs: Mapping[str, str | None], inputs: Iterable[str], replaceable: str | None = None
) -> None:
    """Before anything is read. ``outputs``: paths by the flag that gave them; ``inputs``: paths as :func:`locate` has
    them, folders and globs among them.

    Links to one file are one file; devices and pipes may be named as often as one likes. ``replaceable`` is the flag
    whose file may be an earlier profile that is read as well: it is read whole before it is written. Raises
    :class:`BadInput`.
    """
    written = {flag: path for flag, path in outputs.items() if path and path != STDIN}
    taken: dict[object, str] = {}
    for flag, path in written.items():
        if (same := taken.setdefault(_written_to(path), flag)) != flag and not _is_device(path):
            raise BadInput(f"{same} and {flag} would both write {path}", "give each a file of its own")
    existing = {flag: path for flag, path in written.items() if Path(path).is_file()}
    named = [path for path in inputs if path != STDIN and not is_url(path)]
    if not existing or not named:
        return
    read = {_identity(file): file for file in locate(named)}
    for flag, path in existing.items():
        file = read.get(_identity(path))
        if file is not None and not (flag == replaceable and _is_profile(path)):
            raise BadInput(f"{flag} {path} would overwrite {file}, which is read", f"give {flag} another name")


def _identity(path: str) -> object:
    """Equal for two names of one file that is there."""
    try:
        found = Path(path).stat()
    except OSError:
        return _written_to(path)
    return found.st_dev, found.st_ino


def _written_to(path: str) -> object:
    """Equal for two names that would be written to the same file, there or not."""
    return os.path.realpath(path)


def _is_device(path: str) -> bool:
    place = Path(path)
    return place.exists() and not place.is_file() and not place.is_dir()


def _is_profile(path: str) -> bool:
    from preheat.files.versioned import schema_of
    from preheat.records.profile import SCHEMA

    return schema_of(path) == SCHEMA
