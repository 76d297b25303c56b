"""Engines that are not there, hang, fail, die, talk nonsense or refuse the key: exit 4, one line, no key in sight."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.command import PREHEAT, environment, one_line, preheat, write_log
from contracts.engine_fixtures import free_port, running
from engines.misbehaving import answering, hanging, hanging_up, replying
from preheat.files.versioned import load, save
from preheat.records.rendering import Rendering
from preheat.records.run import ReplayRun, WarmRun
from preheat.sandbox.server import serve
from preheat.sandbox.settings import SandboxSettings
from warm.plans import plan_of, singles

pytestmark = pytest.mark.slow

PLAIN = Rendering(name="plain", source="test", template="{{ messages[0].content }}")
QUICK = SandboxSettings(prefill_ms_per_token=0.02, token_interval_ms=0.5)
ONE_BY_ONE = ("--concurrency", 1, "--attempts", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Holds ``plan.json``, 12 items, and ``log.jsonl``."""
    save(tmp_path / "plan.json", plan_of(singles(12), rendering=PLAIN))
    write_log(tmp_path / "log.jsonl", requests=40)
    return tmp_path


@contextlib.contextmanager
def when(condition: Callable[[], bool], act: Callable[[], object]) -> Iterator[None]:
    """Does ``act`` once ``condition`` holds, while the block runs."""
    over = threading.Event()

    def watch() -> None:
        while not condition() and not over.is_set():
            time.sleep(0.0005)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


COMMANDS: dict[str, tuple[str, ...]] = {
    "warm": ("warm", "plan.json"),
    "replay": ("replay", "log.jsonl", "--speed", "fastest"),
    "up": ("up", "--logs", "log.jsonl", "--speed", "fastest"),
    "plan": ("plan", "profile.json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_is_there(folder: Path, command: str) -> None:
    preheat("mine", "log.jsonl", "-o", "profile.json", cwd=folder)
    url, before = f"http://127.0.0.1:{free_port()}", set(folder.iterdir())
    ran = preheat(*COMMANDS[command], "--engine", url, "-o", "out", cwd=folder)
    assert ran.returncode == 4
    line = one_line(ran)
    assert f"cannot reach the engine at {url}" in line
    assert "is it running, and is the URL right?" in line
    assert set(folder.iterdir()) == before


def test_it_never_answers_anything(folder: Path) -> None:
    began_s = time.monotonic()
    with running(answering(hanging)) as url:
        ran = preheat("warm", "plan.json", "--engine", url, "--timeout", "300ms", cwd=folder)
    assert ran.returncode == 4
    assert "did not answer within 0.3 s" in one_line(ran)
    assert time.monotonic() - began_s < 5


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (replying(500, {"error": {"message": "CUDA is gone"}}), "CUDA is gone"),
        (replying(200, "<html>hello</html>"), "something that is not JSON"),
        (hanging_up, "closed the connection half-way"),
    ],
)
@pytest.mark.parametrize("command", ["warm", "up"])
def test_it_never_makes_sense(folder: Path, handler: Any, said: str, command: str) -> None:
    with running(answering(handler)) as url:
        ran = preheat(*COMMANDS[command], "--engine", url, "-o", "out", cwd=folder)
    assert ran.returncode == 4
    assert said in one_line(ran)
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"hang": True}, "did not answer within 0.2 s"),
        ({"error_rate": 1.0}, "fails this request"),
        ({"garbage": True}, "something that is not JSON"),
        ({"refuse_after": 0}, "closed the connection half-way"),
    ],
)
def test_it_goes_wrong_during_the_warm_up_and_heals(folder: Path, fault: dict[str, Any], said: str) -> None:
    with running(serve(QUICK)) as server:
        core = server.core
        warm = ("warm", "plan.json", "--engine", server.url, *ONE_BY_ONE, "--timeout")
        with when(lambda: core.requests >= 4, lambda: core.switch(**fault)):
            ran = preheat(*warm, "200ms" if fault.get("hang") else "30s", cwd=folder)
        assert ran.returncode == 4
        line = one_line(ran)
        assert said in line
        assert "go on with --resume" in line
        assert not (folder / "warm.json").exists()
        core.switch(hang=False, error_rate=0.0, garbage=False, refuse_after=None)
        healed = preheat(*warm, "30s", "--resume", cwd=folder)  # a busy machine is no fault of the engine
        assert healed.returncode == 0
    run = load(folder / "warm.json", WarmRun)
    assert run.residency == 1.0
    assert not (folder / "warm.json.journal").exists()


def test_two_items_that_hang_are_rejected_and_the_others_go_on(folder: Path) -> None:
    with running(serve(QUICK)) as server:
        core = server.core

        def hang() -> None:
            core.switch(hang=True)
            began = core.requests
            while core.requests < began + 2:
                time.sleep(0.0005)
            core.switch(hang=False)

        with when(lambda: core.requests >= 4, hang):
            ran = preheat("warm", "plan.json", "--engine", server.url, *ONE_BY_ONE, "--timeout", "500ms", cwd=folder)
    assert ran.returncode == 3
    run = load(folder / "warm.json", WarmRun)
    assert set(run.counts) == {"LOADED", "REJECTED"}
    assert 1 <= run.counts["REJECTED"] <= 3
    assert "did not answer within 0.5 s" in ran.stdout


def test_a_replay_counts_what_fails_and_says_why(folder: Path) -> None:
    with running(serve(QUICK)) as server:
        core, replay = server.core, ("replay", "log.jsonl", "--window", "3h", "--speed", "5000")
        with when(lambda: core.requests >= 16, lambda: core.switch(die_half_way=True)):
            ran = preheat(*replay, "--engine", server.url, "-o", "run.json", cwd=folder)
    assert ran.returncode == 0
    run = load(folder / "run.json", ReplayRun)
    failed = [each for each in run.requests if each.error]
    assert 0 < len(failed) < len(run.requests)
    assert f"failed: {len(failed)} x the engine at {server.url}" in ran.stdout


# --- the process dies


@contextlib.contextmanager
def own_sandbox(port: int, *flags: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [*PREHEAT, "sandbox", "serve", "--port", str(port), *map(str, flags)]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), stderr=subprocess.DEVNULL)
    assert serving.stdout is not None
    try:
        line = serving.stdout.readline()
        assert line.startswith("serving at http://127.0.0.1:")
        yield line.split()[-1], serving
    finally:
        serving.kill()
        serving.wait()
        serving.stdout.close()


def lines_of(path: Path) -> int:
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def test_it_dies_half_way_through_the_warm_up(folder: Path) -> None:
    port, journal = free_port(), folder / "warm.json.journal"
    slow = ("--prefill-ms-per-token", 1, "--token-interval-ms", 1)
    warm = ("warm", "plan.json", "--engine", f"http://127.0.0.1:{port}", *ONE_BY_ONE)
    with own_sandbox(port, *slow) as (_, serving), when(lambda: lines_of(journal) >= 5, serving.kill):
        ran = preheat(*warm, cwd=folder)
    assert ran.returncode == 4
    assert "cannot reach" in one_line(ran)
    done = lines_of(journal) - 1
    assert 4 <= done < 12
    with own_sandbox(port, *slow):  # another process, with an empty cache: the journal is no proof
        again = preheat(*warm, "--resume", cwd=folder)
    assert again.returncode == 3
    counts = load(folder / "warm.json", WarmRun).counts
    assert counts["MISSING"] >= done - 1
    assert counts["MISSING"] + counts["LOADED"] == 12


# --- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_warm_up_that_is_ended_goes_on_with_resume(folder: Path, number: signal.Signals) -> None:
    journal, result = folder / "warm.json.journal", folder / "warm.json"
    with running(serve(SandboxSettings(prefill_ms_per_token=1.0, token_interval_ms=0.5))) as server:
        warm = ("warm", "plan.json", "--engine", server.url, "--concurrency", "3")
        ended = subprocess.Popen(
            [*PREHEAT, *warm], cwd=folder, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        while lines_of(journal) < 5:
            assert ended.poll() is None
            time.sleep(0.002)
        ended.send_signal(number)
        _, stderr = ended.communicate(timeout=20)
        assert oct(journal.stat().st_mode & 0o777) == "0o600"
        if number == signal.SIGKILL:
            assert ended.returncode == -9
            assert not result.exists()
        else:
            assert ended.returncode == 130
            assert stderr == "preheat: interrupted while warming (go on with --resume)\n"
            run = load(result, WarmRun)
            assert not run.complete
            assert run.counts == {"DEFERRED": 12}
        done = lines_of(journal) - 1
        resumed = preheat(*warm, "--resume", cwd=folder)
        assert (resumed.returncode, resumed.stderr) == (0, "")
        asked_of_itself = 2  # each connection finds out once what the engine reports
        prompts = server.core.requests - asked_of_itself - 12  # and each item is probed once
    assert 12 <= prompts <= 12 + 3
    run = load(result, WarmRun)
    assert (run.complete, run.counts) == (True, {"LOADED": 12})
    assert not journal.exists()
    assert 4 <= done < 12


def test_a_second_signal_ends_it_at_once(folder: Path) -> None:
    with running(answering(hanging)) as url:
        ended = subprocess.Popen(
            [*PREHEAT, "warm", "plan.json", "--engine", url],
            cwd=folder,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(1.5)
        began_s = time.monotonic()
        for _ in range(2):
            ended.send_signal(signal.SIGINT)
            time.sleep(0.1)
        _, stderr = ended.communicate(timeout=20)
    assert ended.returncode == 130
    assert stderr.startswith("preheat: interrupted (")
    assert time.monotonic() - began_s < 3


@pytest.mark.parametrize("command", [("mine", "-", "-o", "out.json"), ("read", "-", "-o", "out.jsonl")])
def test_a_signal_while_reading_leaves_nothing(folder: Path, command: tuple[str, ...]) -> None:
    line = (folder / "log.jsonl").read_bytes()
    work = folder / "work"
    work.mkdir()
    ended = subprocess.Popen(
        [*PREHEAT, *command],
        cwd=work,
        env=environment(TMPDIR=str(work)),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ended.stdin is not None
    ended.stdin.write(line)
    ended.stdin.flush()
    deadline_s = time.monotonic() + 20
    while not list(work.iterdir()) and time.monotonic() < deadline_s:  # its temporary file
        time.sleep(0.01)
    time.sleep(0.1)
    ended.send_signal(signal.SIGTERM)
    _, stderr = ended.communicate(timeout=20)
    assert (ended.returncode, stderr) == (130, b"preheat: interrupted\n")
    assert not list(work.iterdir())


def test_a_signal_while_a_thread_mines_ends_it_soon(folder: Path, sandbox_url: str) -> None:
    many = folder / "many.jsonl"
    many.write_bytes((folder / "log.jsonl").read_bytes() * 4000)
    ended = subprocess.Popen(
        [*PREHEAT, "up", "--logs", "many.jsonl", "--engine", sandbox_url, "--progress", "plain", "-o", "out"],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert ended.stderr is not None
    assert "engine: " in ended.stderr.readline()
    time.sleep(0.3)
    began_s = time.monotonic()
    ended.send_signal(signal.SIGTERM)
    _, stderr = ended.communicate(timeout=20)
    assert ended.returncode == 130
    assert stderr.splitlines()[-1] == "preheat: interrupted while reading (start again)"
    assert time.monotonic() - began_s < 4
    assert not (folder / "out").exists()


# --- keys

KEY, WRONG = "sk-right-5f2c9d1e77", "sk-wrong-0a1b2c3d44"


def written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("command", ["warm", "replay", "up"])
def test_a_wrong_key_is_refused_and_shown_nowhere(folder: Path, command: str) -> None:
    engine = SandboxSettings(api_key=KEY, prefill_ms_per_token=0.02, token_interval_ms=0.5)
    with running(serve(engine)) as server:
        arguments = (*COMMANDS[command], "--engine", server.url, "--api-key-env", "THE_KEY", "-o", "out")
        ran = preheat(*arguments, cwd=folder, env={"THE_KEY": WRONG})
        assert ran.returncode == 4
        line = one_line(ran)
        assert "refused the credentials (HTTP 401)" in line
        assert "check --api-key-env" in line
        header = preheat(*COMMANDS[command], "--engine", server.url, "--header", f"Authorization: {WRONG}", cwd=folder)
        assert header.returncode == 4
        none = preheat(*arguments, cwd=folder)
        assert none.returncode == 2
        assert "THE_KEY holds no API key" in one_line(none)
        right = preheat(*arguments, cwd=folder, env={"THE_KEY": KEY})
        assert right.returncode in (0, 3)
    shown = "".join(part for each in (ran, header, none, right) for part in (each.stdout, each.stderr))
    for key in (KEY, WRONG):
        assert key not in shown
        assert key.encode() not in written(folder)
