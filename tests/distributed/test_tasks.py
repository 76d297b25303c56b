"""Bounded, retried, cancelled; and the tree in which profiles merge."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from fake_cluster import FakeCluster

from preheat.distributed.tasks import MergeTree, Tasks
from preheat.distributed.work import Job, pack, unpack
from preheat.errors import BadInput, EngineFailed
from preheat.mine.merge import merge
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Request

RENDERER = renderer_for(Rendering())


def run(cluster: FakeCluster, count: int, in_flight: int = 8, attempts: int = 3) -> list[int]:
    found: list[int] = []
    with Tasks(cluster, in_flight, attempts) as tasks:
        for number in range(count):
            tasks.submit(f"number {number}", found.append, operator.neg, number)
        tasks.finish()
    return sorted(-each for each in found)


@pytest.mark.parametrize(("slots", "in_flight", "most"), [(3, 8, 3), (100, 8, 8), (0, 8, 1)])
def test_no_more_at_once_than_the_cluster_has_room_for(slots: int, in_flight: int, most: int) -> None:
    cluster = FakeCluster(slots)
    assert run(cluster, 50, in_flight) == list(range(50))
    assert cluster.most_at_once == most
    assert not cluster.cancelled


def test_what_is_lost_is_done_again() -> None:
    cluster = FakeCluster(lose=lambda function, arguments, begun: begun % 5 == 0)
    assert run(cluster, 40, attempts=6) == list(range(40))
    assert cluster.begun > 40


def test_what_is_lost_every_time_ends_by_name_and_the_rest_is_cancelled() -> None:
    cluster = FakeCluster(lose=lambda function, arguments, begun: arguments == (7,))
    with pytest.raises(EngineFailed, match=r"lost 3 times while it was at number 7: WorkerCrashedError"):
        run(cluster, 40)
    assert cluster.begun < 40
    assert set(cluster.cancelled) == cluster.left()


def test_a_cluster_that_shrinks() -> None:
    class Shrinking(FakeCluster):
        def slots(self) -> int:
            return 8 if self.begun < 20 else 1

    settings, cluster = MineSettings(block_chars=2), Shrinking(seed=3)
    log = [Request(id="r", prompt=f"aab{n}") for n in range(30)]
    with Tasks(cluster, 8, 3) as tasks:
        tree = MergeTree(tasks, Job(Rendering(), settings), fan_in=2)
        for each in log:
            packed = pack(mine([each], RENDERER, settings, derived=False))
            tasks.submit("it", tree.add, bytes, packed)
        left = tree.rest()
    assert sum(unpack(each).requests for each in left) == 30


def test_what_a_task_raises_is_raised_at_once() -> None:
    cluster = FakeCluster()

    def refused() -> None:
        with Tasks(cluster, 8, 3) as tasks:
            tasks.submit("it", print, _refuse)
            tasks.finish()

    with pytest.raises(BadInput, match="not this") as refusal:
        refused()
    assert refusal.value.remedy == "but that"
    assert cluster.begun == 1


def _refuse(*_: Any) -> None:
    raise BadInput("not this", "but that")


def test_an_interrupt_cancels_what_runs() -> None:
    cluster = FakeCluster(slots=100)

    def interrupted() -> None:
        with Tasks(cluster, 8, 3) as tasks:
            for number in range(5):
                tasks.submit("it", print, operator.neg, number)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert cluster.cancelled == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 10, 40])
def test_profiles_merge_in_a_tree(count: int) -> None:
    settings = MineSettings(block_chars=2)
    logs = [[Request(id="r", prompt=f"aa{n % 7}b{n}", tenant=f"t{n % 3}", time_s=float(n))] for n in range(count)]
    cluster, job = FakeCluster(seed=count), Job(Rendering(), settings)
    widths: list[int] = []
    with Tasks(cluster, 4, 3) as tasks:
        tree = MergeTree(tasks, job, fan_in=3)
        start = cluster.start
        cluster.start = lambda function, *arguments: (  # type: ignore[method-assign]
            widths.append(_width(arguments[1])) or start(function, *arguments)
        )
        for log in logs:
            tree.add(pack(mine(log, RENDERER, settings, derived=False)))
        left = tree.rest()
    assert 1 <= len(left) <= 3
    assert all(width == 3 for width in widths)
    assert len(left) + 2 * len(widths) == count  # a merge takes three and gives one
    whole = mine([each for log in logs for each in log], RENDERER, settings)
    assert merge([unpack(each) for each in left], settings) == whole


def _width(request: bytes) -> int:
    import pickle

    _, (profiles, _job) = pickle.loads(request)
    return len(profiles)
