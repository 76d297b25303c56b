"""Running engines for the contract suites: the sandbox, a real llama.cpp, a real vLLM on the CPU.

Each is started once per test session, when the first test asks for it. ``engine_url`` is parametrised over all of
them; ``llamacpp_url``, ``vllm_url`` and ``sandbox_url`` give one.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

import pytest

from engines.vllm_setup import SetUpFailed, home, set_up
from preheat.engines.embedded import EmbeddedSettings, start
from preheat.engines.engine import Engine
from preheat.engines.table import connect
from preheat.errors import EngineFault

T = TypeVar("T")
VLLM_BLOCK_TOKENS = 32
VLLM_CONTEXT_TOKENS = 4096
VLLM_HASH_SEED = "0"
_START_TIMEOUT_S = 420.0


@contextmanager
def running(manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Holds an asynchronous context open on an event loop of its own, for fixtures that outlive a test's loop."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(manager.__aenter__(), loop).result(180)
        asyncio.run_coroutine_threadsafe(manager.__aexit__(None, None, None), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Writes a line to the terminal, whatever pytest captures."""
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def line(text: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{text}", flush=True)

    return line


@pytest.fixture(scope="session")
def sandbox_url() -> Iterator[str]:
    """The sandbox behind HTTP, without delays worth mentioning."""
    from preheat.sandbox.server import serve
    from preheat.sandbox.settings import SandboxSettings

    settings = SandboxSettings(
        context_tokens=4096, prefill_ms_per_token=0.01, token_interval_ms=1.0, adapters=("legal",)
    )
    with running(serve(settings)) as server:
        yield server.url


@pytest.fixture(scope="session")
def llamacpp_url(say: Callable[[str], None]) -> Iterator[str]:
    """A real llama.cpp server with the small model."""
    started_s = time.monotonic()
    try:
        with running(_llamacpp()) as url:
            say(f"llama.cpp started in {time.monotonic() - started_s:.1f} s")
            yield url
    except EngineFault as fault:
        _no_engine(str(fault))


class VllmServer(NamedTuple):
    """Where it answers, where it publishes KV events (``None`` where that is not known), and its folder."""

    url: str
    events: str | None
    root: Path | None


@pytest.fixture(scope="session")
def vllm_url(vllm_server: VllmServer) -> str:
    """A real vLLM on the CPU with a tiny model."""
    return vllm_server.url


@pytest.fixture(scope="session")
def vllm_server(say: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """The same, with what it is started with; its process group ends with the session.

    ``PREHEAT_TEST_VLLM_URL`` names one that runs already (blocks of 32 tokens, a context of 4096).
    """
    if os.environ.get("PREHEAT_TEST_VLLM_URL"):
        yield VllmServer(os.environ["PREHEAT_TEST_VLLM_URL"], None, None)
        return
    try:
        root = set_up(say)
    except (SetUpFailed, OSError, subprocess.SubprocessError) as error:
        _no_engine(f"vLLM's set-up failed: {error}")
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    started_s = time.monotonic()
    port, events_port = free_port(), free_port()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            _vllm_command(root, port, events_port),
            stdout=sink,
            stderr=sink,
            env=_vllm_environment(),
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        if not _healthy(url, process):
            _no_engine(f"vLLM did not start: {log.read_text(errors='replace')[-800:]}")
        say(f"vLLM started in {time.monotonic() - started_s:.0f} s")
        yield VllmServer(url, f"tcp://127.0.0.1:{events_port}", root)
    finally:
        _end_group(process)


@pytest.fixture(
    params=[
        "sandbox",
        pytest.param("llamacpp", marks=[pytest.mark.heavy, pytest.mark.llamacpp]),
        pytest.param("vllm", marks=[pytest.mark.heavy, pytest.mark.vllm, pytest.mark.timeout(2400)]),
    ]
)
def engine_url(request: pytest.FixtureRequest) -> str:
    """The URL of each engine in turn."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def engine(engine_url: str) -> AsyncIterator[Engine]:
    """Each engine in turn, connected as a user would: by its URL alone."""
    connected = await connect(engine_url)
    yield connected
    await connected.close()


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def _llamacpp() -> AsyncIterator[str]:
    async with start(EmbeddedSettings(cache_ram_mib=1024)) as url:
        yield url


def _no_engine(why: str) -> NoReturn:
    """A real engine that cannot run is a failure where engines are required, else a reason to skip."""
    if os.environ.get("CI") == "true" or os.environ.get("PREHEAT_REQUIRE_ENGINES") == "1":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


def _vllm_command(root: Path, port: int, events_port: int) -> list[str]:
    options = {
        "served-model-name": "tiny",
        "host": "127.0.0.1",
        "port": port,
        "dtype": "float32",  # bfloat16 is far slower on most CPUs
        "max-model-len": VLLM_CONTEXT_TOKENS,
        "max-num-seqs": 8,
        "block-size": VLLM_BLOCK_TOKENS,
        "max-lora-rank": 8,
        "prefix-caching-hash-algo": "sha256_cbor",
        "kv-events-config": json.dumps(
            {"enable_kv_cache_events": True, "publisher": "zmq", "endpoint": f"tcp://*:{events_port}"}
        ),
    }
    flags = ["--enforce-eager", "--enable-prefix-caching", "--enable-prompt-tokens-details"]
    flags += ["--enable-tokenizer-info-endpoint", "--trust-request-chat-template"]
    flags += ["--enable-lora", "--lora-modules", f"legal={root / 'adapter'}"]
    flags += [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return [str(root / "venv" / "bin" / "vllm"), "serve", str(root / "tiny"), *flags]


def _vllm_environment() -> dict[str, str]:
    return os.environ | {
        "HF_HUB_OFFLINE": "1",
        "VLLM_SERVER_DEV_MODE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "PYTHONHASHSEED": VLLM_HASH_SEED,
        "DO_NOT_TRACK": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "0-1",
        "VLLM_CACHE_ROOT": str(home() / "vllm-cache"),
    }


def _healthy(url: str, process: subprocess.Popen[bytes]) -> bool:
    deadline_s = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline_s and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as reply:
                return bool(reply.status == 200)
        except OSError:
            time.sleep(0.5)
    return False


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(20)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
