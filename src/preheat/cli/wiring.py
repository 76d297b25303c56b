"""From flags to engines, and from signals to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from preheat.cli.ending import SAVED, keep_track
from preheat.cli.signals import Signals
from preheat.errors import BadInput
from preheat.files.compressed import STDIN

if TYPE_CHECKING:
    from preheat.engines.engine import Engine
    from preheat.engines.settings import EngineSettings
    from preheat.records.rendering import Rendering

T = TypeVar("T")
EMBEDDED = "embedded"
EMBEDDED_CACHE_MIB = 2048


def run_until_stopped(work: Callable[[asyncio.Event], Awaitable[T]]) -> T:
    """Run ``work(stop)``. SIGINT and SIGTERM set ``stop``; what has not ended 5 s later is cancelled.

    A second signal cancels at once; a thread that holds the process up is not waited for (:mod:`preheat.cli.signals`).
    Raises :class:`Interrupted` when it had to be cancelled.
    """

    async def main() -> T:
        task = asyncio.ensure_future(work(signals.stop))
        signals.watch(task)
        try:
            return await task
        except asyncio.CancelledError:
            raise SAVED from None

    with Signals() as signals:
        return asyncio.run(main())


def engine_settings(flags: Mapping[str, Any], timeout_s: float | None = None) -> EngineSettings:
    """Connection settings from the flags of ``engine_options``.

    ``timeout_s`` shortens the wait for answers that compute nothing. Raises :class:`BadInput` for a header without a
    colon.
    """
    from preheat.engines.settings import EngineSettings

    headers = {}
    for line in flags["header"]:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise BadInput("a --header has no colon", "write it as NAME:VALUE")
        headers[name.strip()] = value.strip()
    usual_s = EngineSettings.timeout_s
    return EngineSettings(
        timeout_s=usual_s if timeout_s is None else min(usual_s, timeout_s),
        model=flags["model_name"],
        api_key_env=flags["api_key_env"],
        headers=headers,
        block_tokens=flags["block_tokens"],
        ca_cert=_path(flags["ca_cert"]),
        client_cert=_path(flags["client_cert"]),
        client_key=_path(flags["client_key"]),
    )


def _path(given: str | None) -> Path | None:
    return Path(given) if given else None


@contextlib.asynccontextmanager
async def engines(
    urls: tuple[str, ...], kind: str | None, settings: EngineSettings, embedded_replicas: int = 1
) -> AsyncIterator[list[Engine]]:
    """Adapters for all URLs, in order; ``embedded`` starts ``embedded_replicas`` real llama.cpp processes.

    Each of these may use all processors, up to four: they are not meant to be at work at the same time.
    """
    from preheat.engines.embedded import EmbeddedSettings, start
    from preheat.engines.table import connect

    async with contextlib.AsyncExitStack() as stack:
        found: list[Engine] = []
        for url in urls:
            if url == EMBEDDED:
                threads = min(4, len(os.sched_getaffinity(0)))
                embedded = EmbeddedSettings(cache_ram_mib=EMBEDDED_CACHE_MIB, threads=threads)
                for _ in range(embedded_replicas):
                    address = await stack.enter_async_context(start(embedded))
                    found.append(await connect(address, "llamacpp", settings))
                    stack.push_async_callback(found[-1].close)
            else:
                found.append(await connect(url, kind, settings))
                stack.push_async_callback(found[-1].close)
        yield found


@contextlib.contextmanager
def spooled(paths: tuple[str, ...]) -> Iterator[list[str]]:
    """``paths``, with standard input kept in a temporary file, mode 0600: what is read twice cannot be a pipe."""
    with contextlib.ExitStack() as stack:
        found = []
        for path in paths:
            if path == STDIN:
                copy = stack.enter_context(tempfile.NamedTemporaryFile(prefix="preheat-stdin-"))
                keep_track(Path(copy.name))
                shutil.copyfileobj(sys.stdin.buffer, copy)
                copy.flush()
                path = copy.name
            found.append(path)
        yield found


def rendering_from(template: str | None) -> Rendering | None:
    """The rendering of ``--model``; ``None`` where it was not given, or has a tokenizer and no template."""
    if template is None:
        return None
    from preheat.prompts.hugging_face import find_model

    return find_model(template).rendering
