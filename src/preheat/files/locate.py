"""From what the user wrote (file, folder, glob, ``-``) to the files to read, in a stable order."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from preheat.errors import BadInput
from preheat.files.compressed import STDIN
from preheat.files.objects import is_url, list_objects

LOG_EXTENSIONS = frozenset({".json", ".jsonl", ".ndjson", ".log", ".csv", ".tsv", ".parquet", ".pb", ".binpb", ".otlp"})
COMPRESSIONS = frozenset({".gz", ".zst", ".xz"})


def locate(paths: Sequence[str]) -> list[str]:
    """The files that ``paths`` name, in the order given; folders and globs sorted, no file twice,
    also under another name (a link).

    Folders are searched to the bottom for :data:`LOG_EXTENSIONS` (each also ``.gz``, ``.zst``, ``.xz``), leaving out
    names that begin with a dot. Below a folder or ``**``, links to folders are not followed. A file that is named
    outright is taken whatever its name. ``s3://bucket/...`` and the like are objects, prefixes or patterns in a store.
    Raises :class:`BadInput` for a path that leads to nothing.
    """
    found: dict[str, str] = {}
    for path in paths:
        try:
            for file in _locate_one(path):
                found.setdefault(_real(file), file)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"cannot look for {path[:200]!r}: {reason}", "check the path and its permissions") from error
    if not found:
        raise BadInput("no log was named", "name a file, a folder, a glob, or - for standard input")
    return list(found.values())


def _locate_one(path: str) -> list[str]:
    if path == STDIN:
        return [STDIN]
    if not path:
        raise BadInput("the path of the log is empty", "name a file, a folder, a glob, or - for standard input")
    if is_url(path):
        return list_objects(path, _names_log)
    place = Path(path)
    if place.is_dir():
        files = _once(str(file) for file in place.rglob("*") if _is_log(file, place))
        if not files:
            raise BadInput(f"no log files in the folder {path}", f"known are {', '.join(sorted(LOG_EXTENSIONS))}")
        return files
    if place.exists():
        return [path]
    if glob.has_magic(path):
        files = _once(file for file in _matching(path) if Path(file).is_file())
        if files:
            return files
        raise BadInput(f"nothing matches {path}", "check the pattern; quote it, so that the shell leaves it alone")
    raise BadInput(f"there is no file {path}", "check the path")


def _matching(pattern: str) -> Iterator[str]:
    """What a pattern matches; where it has ``**``, without following links to folders there, which may go in circles.

    As in a shell, a wildcard matches no name that begins with a dot.
    """
    parts = Path(pattern).parts
    if "**" not in parts:
        yield from glob.iglob(pattern)  # noqa: PTH207
        return
    start = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    rest = (*parts[start:], "*") if parts[-1] == "**" else parts[start:]
    hidden = {part for part in rest if part.startswith(".")}
    for file in Path(*parts[:start]).glob("/".join(rest)):
        below = file.parts[len(Path(*parts[:start]).parts) :]
        if hidden or not any(part.startswith(".") for part in below):
            yield str(file)


def _once(files: Iterable[str]) -> list[str]:
    """Sorted, each real file under one name: its own, where that is among them."""
    own: dict[str, str] = {}
    for file in sorted(files, key=lambda file: (_real(file) != os.path.abspath(file), file)):  # noqa: PTH100
        own.setdefault(_real(file), file)
    return sorted(own.values())


def _real(file: str) -> str:
    return file if file == STDIN or is_url(file) else os.path.realpath(file)


def _is_log(file: Path, folder: Path) -> bool:
    return _names_log(str(file.relative_to(folder))) and file.is_file()


def _names_log(name: str) -> bool:
    """Whether a name below a folder or prefix is one of a log."""
    path = PurePosixPath(name.lstrip("/"))
    if any(part.startswith(".") for part in path.parts):
        return False
    extensions = [extension.lower() for extension in path.suffixes[-2:]]
    if extensions and extensions[-1] in COMPRESSIONS:
        extensions.pop()
    return bool(extensions) and extensions[-1] in LOG_EXTENSIONS
