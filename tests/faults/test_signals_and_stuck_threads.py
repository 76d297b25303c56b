"""What does not heed a signal is left behind: the process ends with 130 and one line all the same."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import PREHEAT, environment

STUCK = """
import asyncio, sys, threading, time
from preheat.cli import app, signals, wiring

signals._GRACE_S, signals._STUCK_S = 0.2, {stuck_s}

async def work(stop):
    print("ready", flush=True)
    {how}

def command(arguments, debug):
    try:
        wiring.run_until_stopped(work)
    except app.PreheatError as fault:
        print("preheat:", fault, file=sys.stderr)
        return fault.exit_code

app.run_line = command
app.main([])
"""
IN_A_THREAD = "await asyncio.to_thread(time.sleep, 60)"
IN_THE_LOOP = "time.sleep(60)"
HEEDS_NOTHING = """
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
"""
LINE = "preheat: interrupted (what was reached is saved; a warm-up goes on with --resume)\n"


@contextlib.contextmanager
def running(command: list[str], **more: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), **more
    )  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [IN_A_THREAD, IN_THE_LOOP, HEEDS_NOTHING])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_does_not_wait_for_what_is_stuck(how: str, number: signal.Signals) -> None:
    with running([sys.executable, "-c", STUCK.format(how=how, stuck_s=30)]) as stuck:
        assert stuck.stdout is not None
        assert stuck.stdout.readline() == "ready\n"
        time.sleep(0.2)
        began_s = time.monotonic()
        stuck.send_signal(signal.SIGINT)
        time.sleep(0.1)
        stuck.send_signal(number)
        _, stderr = stuck.communicate(timeout=20)
    assert (stuck.returncode, stderr) == (130, LINE)
    assert time.monotonic() - began_s < 2


@pytest.mark.parametrize("how", [IN_A_THREAD, IN_THE_LOOP, HEEDS_NOTHING])
def test_after_one_signal_what_is_stuck_is_waited_for_only_so_long(how: str) -> None:
    with running([sys.executable, "-c", STUCK.format(how=how, stuck_s=0.8)]) as stuck:
        assert stuck.stdout is not None
        assert stuck.stdout.readline() == "ready\n"
        time.sleep(0.2)
        began_s = time.monotonic()
        stuck.send_signal(signal.SIGTERM)
        _, stderr = stuck.communicate(timeout=20)
    assert (stuck.returncode, stderr) == (130, LINE)
    assert 0.7 < time.monotonic() - began_s < 3


def test_a_log_from_a_pipe_leaves_no_copy_behind(tmp_path: Path) -> None:
    """``up`` keeps standard input in a file of its own, which also goes where the process is ended hard."""
    program = STUCK.format(how=IN_A_THREAD, stuck_s=30).replace(
        "wiring.run_until_stopped(work)", "with wiring.spooled(('-',)): wiring.run_until_stopped(work)"
    )
    command = [sys.executable, "-c", program]
    env = environment(TMPDIR=str(tmp_path))
    stuck = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    assert stuck.stdin is not None
    assert stuck.stdout is not None
    stuck.stdin.write("private")
    stuck.stdin.close()
    assert stuck.stdout.readline() == "ready\n"
    assert len(list(tmp_path.iterdir())) == 1
    for _ in range(2):
        stuck.send_signal(signal.SIGINT)
        time.sleep(0.1)
    stuck.wait(timeout=20)
    stuck.stdout.close()
    assert stuck.stderr is not None
    stuck.stderr.close()
    assert stuck.returncode == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sandbox_ends_with_one_line(number: signal.Signals) -> None:
    with running([*PREHEAT, "sandbox", "serve", "--port", "0"]) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline().startswith("serving at http://127.0.0.1:")
        serving.send_signal(number)
        _, stderr = serving.communicate(timeout=20)
    assert (serving.returncode, stderr) == (130, "preheat: interrupted\n")
