"""Logs → one profile, by way of a cluster: what :func:`preheat.mine.miner.mine` gives of them, exactly so while no
memory bound bites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import structs

from preheat.distributed.pieces import pieces
from preheat.distributed.ray_cluster import connected
from preheat.distributed.settings import DistributedSettings
from preheat.distributed.tasks import Executor, MergeTree, Tasks
from preheat.distributed.work import Job, Mined, mine_piece, perform, request_of, unpack
from preheat.errors import BadInput
from preheat.files.locate import locate
from preheat.mine.collection import no_collection
from preheat.mine.merge import merge
from preheat.mine.miner import NothingToLearn
from preheat.prompts.render import renderer_for
from preheat.read.oddities import CLOCKS, UNITS, Oddities
from preheat.read.reader import no_requests, refuse_format
from preheat.records.profile import Profile
from preheat.records.request import ReadReport

__all__ = ["DistributedSettings", "Job", "mine_on", "mine_with"]
Progress = Callable[[str, int, int], None]
"""``(stage, done, total)``, ``total`` 0 where it is not known."""


def mine_on(
    cluster: str,
    logs: Sequence[str],
    job: Job,
    *,
    format: str | None,
    report: ReadReport,
    progress: Progress,
    derived: bool = True,
    settings: DistributedSettings | None = None,
) -> Profile:
    """Mine ``logs`` on ``cluster``: ``local`` (one that is started for it), ``HOST:PORT`` or ``ray://HOST:PORT``.

    ``report`` sums up what all workers read; what is odd about ids and the order of times is seen within pieces only,
    and so is a span that was exported before where it stands in another object of a store, or among other records.
    Raises what reading and mining raise; :class:`EngineUnreachable` for a cluster that does not answer or is lost,
    :class:`EngineFault` for one of other versions, :class:`EngineFailed` where a piece's worker dies every time.
    """
    settings = settings or DistributedSettings()
    refuse_format(format)
    files = locate(logs)
    renderer_for(job.rendering)  # raises here what would come from every worker
    with connected(cluster, settings) as executor:
        return mine_with(executor, files, job, format, report, progress, derived, settings)


def mine_with(
    executor: Executor,
    files: Sequence[str],
    job: Job,
    format: str | None,
    report: ReadReport,
    progress: Progress,
    derived: bool,
    settings: DistributedSettings,
) -> Profile:
    """The same on any executor."""
    unused, given, done = Counter[str](), 0, 0
    with Tasks(executor, settings.in_flight, settings.attempts) as tasks:
        tree = MergeTree(tasks, job, settings.fan_in)

        def take(mined: Mined) -> None:
            nonlocal done
            done += 1
            progress("mine", done, total)
            report.add(mined.report)
            unused.update(mined.unused)
            if mined.profile is not None:
                tree.add(mined.profile)

        total = 0
        for piece in pieces(files, format, report, settings.piece_bytes):
            given += 1
            tasks.submit(piece.named, take, perform, *request_of(mine_piece, piece, job))
        total = given
        packed = tree.rest()
    _refuse_nothing(report, files, job)
    if not packed:
        raise NothingToLearn(unused + Counter(report.skipped))
    with no_collection():
        profile = merge([unpack(each) for each in packed], job.settings, derived=derived)
    skipped = unused + Counter(report.skipped) + Counter(profile.skipped)
    return structs.replace(profile, skipped=dict(sorted(skipped.items())))


def _refuse_nothing(report: ReadReport, files: Sequence[str], job: Job) -> None:
    for each in (UNITS, CLOCKS):  # as the pieces told it of themselves
        report.noted.pop(each, None)
    Oddities(report).end()
    if not report.requests:
        raise no_requests(report, ", ".join(files))
    if job.until_s is not None and report.first_s is None:
        raise BadInput("the log has no times, so that nothing in it is before --until", "leave out --until")
