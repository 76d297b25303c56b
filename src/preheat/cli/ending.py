"""The end of the process where nothing can be waited for."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import NoReturn

from preheat.cli.streams import remark
from preheat.errors import Interrupted

SAVED = Interrupted("interrupted", "what was reached is saved; a warm-up goes on with --resume")
_temporary: set[Path] = set()


def keep_track(path: Path) -> None:
    """``path`` is temporary: it is removed also where the process is ended without a clean-up."""
    _temporary.add(path)


def end_now(said: str) -> NoReturn:
    """End the process with exit code 130, threads or not."""
    for path in _temporary:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    remark(f"preheat: {said}")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(SAVED.exit_code)
