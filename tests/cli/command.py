"""The command line as its users run it: in a process of its own, or, where nothing depends on that, in this one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from preheat.cli.app import run_line

DEMO_LOG = Path(__file__).parents[2] / "examples" / "data" / "demo_log.jsonl.xz"
PREHEAT = [sys.executable, "-m", "preheat"]


def environment(**more: str) -> dict[str, str]:
    """The test's own environment without settings of ours, proxies and colours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREHEAT_")}
    return kept | {"NO_PROXY": "127.0.0.1,localhost", "NO_COLOR": "1", "COLUMNS": "100"} | more


def process(
    *arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None, stdin: bytes = b"", **more: Any
) -> subprocess.CompletedProcess[str]:
    """``preheat ARGUMENTS`` in a process of its own, to its end; nothing on standard input unless given."""
    done = subprocess.run(
        [*PREHEAT, *map(str, arguments)],
        cwd=cwd,
        env=environment(**(env or {})),
        input=stdin,
        capture_output=True,
        timeout=60,
        **more,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def preheat(
    *arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """The same within this process, which saves the time to start one."""
    streams = [io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") for content in (stdin, b"", b"")]
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, environment(**(env or {})), clear=True))
        stack.enter_context(mock.patch.object(sys, "stdin", streams[0]))
        stack.enter_context(contextlib.redirect_stdout(streams[1]))
        stack.enter_context(contextlib.redirect_stderr(streams[2]))
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        code = run_line(list(map(str, arguments)), debug=False)
    for stream in streams[1:]:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(arguments, code, out, err)


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """What stands on standard error, which must be one line of ours."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("preheat: ")
    assert "bug of ours" not in lines[0]
    return lines[0]


def leftovers(folder: Path) -> list[str]:
    """Temporary files that should have gone."""
    return [path.name for path in folder.rglob("*") if path.name.startswith(".") or path.name.endswith(".tmp")]


def write_log(path: Path, *, requests: int = 240, tenants: int = 4, seed: int = 1, words: int = 250) -> Path:
    """Tenants with a system prompt of their own each; two hours, some with tools."""
    chooser = random.Random(seed)
    known = ["river", "stone", "window", "paper", "garden", "winter", "orange", "table", "letter", "morning"]
    systems = [" ".join(chooser.choice(known) for _ in range(words)) for _ in range(tenants)]
    lines = []
    for number in range(requests):
        tenant = number % tenants
        question = " ".join(chooser.choice(known) for _ in range(12))
        messages = [{"role": "system", "content": systems[tenant]}, {"role": "user", "content": question}]
        time_s = 1_000.0 + 7200.0 * number / requests
        lines.append({"request_id": f"r{number}", "timestamp": time_s, "tenant": f"t{tenant}", "messages": messages})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
