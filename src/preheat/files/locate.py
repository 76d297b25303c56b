"""From what the user wrote (file, folder, glob, ``-``) to the files to read, in a stable order."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from preheat.errors import BadInput
from preheat.files.compressed import STDIN
from preheat.files.objects import is_url, list_objects

LOG_EXTENSIONS = frozenset({".json", ".jsonl", ".ndjson", ".log", ".csv", ".tsv", ".parquet", ".pb", ".binpb", ".otlp"})
COMPRESSIONS = frozenset({".gz", ".zst", ".xz"})


def locate(paths: Sequence[str]) -> list[str]:
    """The files that ``paths`` name, in the order given; folders and globs sorted, no file twice.

    Folders are searched to the bottom for :data:`LOG_EXTENSIONS` (each also ``.gz``, ``.zst``, ``.xz``), leaving out
    names that begin with a dot. A file that is named outright is taken whatever its name. ``s3://bucket/...`` and the
    like are objects, prefixes or patterns in a store. Raises :class:`BadInput` for a path that leads to nothing.
    """
    found: dict[str, None] = {}
    for path in paths:
        try:
            found.update(dict.fromkeys(_locate_one(path)))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"cannot look for {path[:200]!r}: {reason}", "check the path and its permissions") from error
    if not found:
        raise BadInput("no log was named", "name a file, a folder, a glob, or - for standard input")
    return list(found)


def _locate_one(path: str) -> list[str]:
    if path == STDIN:
        return [STDIN]
    if not path:
        raise BadInput("the path of the log is empty", "name a file, a folder, a glob, or - for standard input")
    if is_url(path):
        return list_objects(path, _names_log)
    place = Path(path)
    if place.is_dir():
        files = sorted(str(file) for file in place.rglob("*") if _is_log(file, place))
        if not files:
            raise BadInput(f"no log files in the folder {path}", f"known are {', '.join(sorted(LOG_EXTENSIONS))}")
        return files
    if place.exists():
        return [path]
    if glob.has_magic(path):
        files = sorted(file for file in glob.iglob(path, recursive=True) if Path(file).is_file())  # noqa: PTH207
        if files:
            return files
        raise BadInput(f"nothing matches {path}", "check the pattern; quote it, so that the shell leaves it alone")
    raise BadInput(f"there is no file {path}", "check the path")


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
