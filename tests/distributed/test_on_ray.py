"""Real Ray clusters on this machine: the same profile, whatever dies in between."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.command import DEMO_LOG, PREHEAT, environment, one_line, preheat, write_log
from preheat.distributed import ray_cluster
from preheat.distributed.mining import DistributedSettings, Job, mine_on
from preheat.distributed.ray_cluster import connected
from preheat.distributed.tasks import Lost, Tasks
from preheat.errors import EngineFailed, EngineUnreachable
from preheat.files.versioned import load
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport

pytestmark = [pytest.mark.heavy, pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]
JOB = Job(Rendering(), MineSettings())
SMALL = DistributedSettings(piece_bytes=20_000, fan_in=4, object_store_bytes=100 << 20)
STORE_BYTES = 100 << 20
TEXTS = "{% for message in messages %}{{ message.content }}{% endfor %}"
QUICK = Job(Rendering(name="texts", template=TEXTS), MineSettings())
SLOW = Job(Rendering(name="texts", template="{% for each in range(99999) %}{% endfor %}" * 4 + TEXTS), MineSettings())
"""The same, and a piece of the log takes long enough to be killed in the middle."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one processor each; the first serves clients, too."""
    pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("grpc", reason="Ray's client is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args={**head, "ray_client_server_port": port})
    started.client_port = port
    started.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    yield started
    started.shutdown()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "log.jsonl", requests=240)


def expected(log: Path, job: Job = JOB) -> Profile:
    from preheat.mine.miner import mine
    from preheat.read.reader import read_requests

    return mine(read_requests([str(log)], report=ReadReport()), renderer_for(job.rendering), job.settings)


def on(cluster: str, log: Path, progress: Callable[[str, int, int], None], job: Job = JOB) -> Profile:
    return mine_on(cluster, [str(log)], job, format=None, report=ReadReport(), progress=progress, settings=SMALL)


def test_through_a_client_from_the_command_line(cluster: Any, tmp_path: Path) -> None:
    assert preheat("mine", DEMO_LOG, "-o", tmp_path / "here.json").returncode == 0
    address = f"ray://127.0.0.1:{cluster.client_port}"
    line = [*PREHEAT, "mine", DEMO_LOG, "--on", address, "-o", tmp_path / "there.json", "--json"]
    done = subprocess.run(list(map(str, line)), env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")
    assert done.stderr == ""
    assert load(tmp_path / "there.json", Profile) == load(tmp_path / "here.json", Profile)


def test_a_piece_that_kills_every_worker_ends_by_its_name(cluster: Any, tmp_path: Path) -> None:
    tried = tmp_path / "tried"

    def dies() -> None:
        with tried.open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        with connected(cluster.address, SMALL) as executor, Tasks(executor, 4, attempts=3) as tasks:
            tasks.submit("log.jsonl:3 to 9", print, dies)
            tasks.finish()

    with pytest.raises(EngineFailed, match=r"lost 3 times while it was at log\.jsonl:3 to 9: WorkerCrashedError"):
        run()
    assert tried.read_text() == "xxx"


def test_a_node_is_killed_while_it_mines(
    cluster: Any, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By SIGKILL, to all that the node runs; what it was at is done again by the other one.

    A task that ends between being seen and the kill leaves nothing to lose: then another node is killed.
    """
    losses: list[str] = []

    def lost(said: str) -> Lost:
        losses.append(said)
        return Lost(said)

    monkeypatch.setattr(ray_cluster, "Lost", lost)
    for _ in range(4):
        killed = _killed_while_mining(cluster, log)
        cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        cluster.wait_for_nodes()
        if killed and losses:
            break
    assert losses
    assert capsys.readouterr().out == ""


def _killed_while_mining(cluster: Any, log: Path) -> bool:
    """Mine, kill the node once it is at a task, and see that the profile is whole; whether it was killed."""
    (node,) = cluster.worker_nodes
    killed: list[int] = []

    def progress(stage: str, done: int, total: int) -> None:
        if not killed and _is_mining(node):
            killed.append(done)
            cluster.remove_node(node, allow_graceful=False)

    profile = on(cluster.address, log, progress, SLOW)
    assert msgspec.structs.replace(profile, rendering=QUICK.rendering) == expected(log, QUICK)
    if not killed:
        cluster.remove_node(node, allow_graceful=False)
    return bool(killed)


def _is_mining(node: Any) -> bool:
    """Whether one of the node's workers is at a task, as its title says."""
    (raylet,) = node.all_processes["raylet"]
    children = Path(f"/proc/{raylet.process.pid}/task/{raylet.process.pid}/children").read_text().split()
    return any(b"ray::perform" in Path(f"/proc/{child}/cmdline").read_bytes() for child in children)


def test_an_interrupt_ends_tasks_and_processes(log: Path, tmp_path: Path) -> None:
    """A local cluster, interrupted as by Ctrl-C, which reaches the whole group of processes."""
    pytest.importorskip("ray", reason="Ray is not installed")
    big = tmp_path / "big.jsonl"
    big.write_bytes(log.read_bytes() * 300)
    output, temporary = tmp_path / "profile.json", tmp_path / "t"
    temporary.mkdir()
    line = [*PREHEAT, "mine", big, "--on", "local", "-o", output, "--progress", "plain"]
    process = subprocess.Popen(
        list(map(str, line)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert "mine 1" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "preheat: interrupted"
    assert out == ""
    assert not output.exists()
    deadline_s = time.monotonic() + 60
    while left := _of_session(process.pid):
        assert time.monotonic() < deadline_s, left
        time.sleep(0.5)


def _of_session(leader: int) -> list[str]:
    """Names of the processes that still run in the session of that process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, session = rest.split()[:4]
        if int(session) == leader and state != "Z":
            found.append(name)
    return found


def test_nothing_listens_and_something_else_listens(log: Path) -> None:
    pytest.importorskip("grpc", reason="Ray's client is not installed")
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        for cluster in (address, f"ray://{address}"):
            done = preheat("mine", log, "--on", cluster)
            assert done.returncode == 4
            assert f"no Ray cluster answers at {cluster}" in one_line(done)
        bound.listen()  # takes connections and says nothing
        impatient = connected(address, DistributedSettings(connect_s=1.0))
        with pytest.raises(EngineUnreachable, match="no Ray cluster answers"):
            impatient.__enter__()


def test_ray_is_not_installed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = preheat("mine", log, "--on", "local")
    assert done.returncode == 2
    assert "ray is missing" in one_line(done)
    assert "pip install 'preheat[ray]'" in one_line(done)
