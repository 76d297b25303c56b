"""A warm-up that ends early and goes on: nothing lost, little done twice, MISSING never talked away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from preheat.clock import run_virtual
from preheat.errors import BadInput, StorageFault
from preheat.files.versioned import digest
from preheat.records.outcomes import Outcome
from preheat.records.plan import Plan
from preheat.records.run import WarmRun
from preheat.sandbox.settings import SandboxSettings
from preheat.warm.journal import Entry, WarmJournal
from preheat.warm.runner import Warmer
from preheat.warm.settings import WarmSettings
from warm.plans import Counting, families, plan_of, singles

SLOW = SandboxSettings(prefill_ms_per_token=10)


async def killed_after(seconds: float, warmer: Warmer) -> None:
    """Ends a run in the middle of what it does, whatever that is."""
    task = asyncio.create_task(warmer.run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def resumed(plan: Plan, engine: Counting, path: Path, concurrency: int = 1) -> WarmRun:
    settings = WarmSettings(concurrency=concurrency, resume=True)
    return run_virtual(Warmer(plan, engine, settings, journal=WarmJournal(path)).run())


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("seconds", [0.0, 1.0, 4.0, 12.0, 14.0])
def test_a_killed_run_goes_on_and_repeats_at_most_what_was_in_flight(
    tmp_path: Path, seconds: float, concurrency: int
) -> None:
    plan, engine, path = plan_of(families(3, 3)), Counting(SLOW), tmp_path / "warm.json"
    settings = WarmSettings(concurrency=concurrency)
    run_virtual(killed_after(seconds, Warmer(plan, engine, settings, journal=WarmJournal(path))))
    warmed = sum(entry.warmed for entry in entries(path))
    run = resumed(plan, engine, path, concurrency)
    assert run.counts == {"LOADED": len(plan.items)}
    assert run.complete
    assert sum(each.computed_tokens for each in run.items) == plan.distinct_tokens + len(plan.items)
    warmings = sum(engine.sent.values()) - len(plan.items)  # one probe each, and those of the first run again
    probed_before = sum(entry.status is not None for entry in entries(path)) - len(plan.items)
    assert 0 <= warmings - len(plan.items) - probed_before <= concurrency
    assert warmed <= len(plan.items)


def entries(path: Path) -> list[Entry]:
    import msgspec

    journal = WarmJournal(path).path
    lines = journal.read_bytes().splitlines() if journal.exists() else []
    return [msgspec.json.decode(line, type=Entry) for line in lines]


def test_the_journal_is_private_and_names_plan_and_engine(tmp_path: Path) -> None:
    plan, path = plan_of(singles(2)), tmp_path / "warm.json"
    run_virtual(Warmer(plan, Counting(), journal=WarmJournal(path)).run())
    journal = tmp_path / "warm.json.journal"
    assert journal.stat().st_mode & 0o777 == 0o600
    head, *rest = (entry for entry in entries(path) if not entry.probing)
    assert (head.plan, head.engine) == (digest(plan), "sandbox://in-process")
    assert [(entry.id, entry.warmed) for entry in rest] == [
        *((f"single-{n}", True) for n in range(2)),
        *((f"single-{n}", False) for n in range(2)),
    ]
    assert plan.items[0].text not in journal.read_text()  # no prompt stands in it


def test_a_torn_last_line_is_one_item_more_to_do(tmp_path: Path) -> None:
    plan, engine, path = plan_of(singles(6)), Counting(SLOW), tmp_path / "warm.json"
    run_virtual(killed_after(2.0, Warmer(plan, engine, WarmSettings(concurrency=1), journal=WarmJournal(path))))
    journal = tmp_path / "warm.json.journal"
    journal.write_bytes(journal.read_bytes()[:-9])
    assert resumed(plan, engine, path).counts == {"ALREADY": 1, "LOADED": 5}
    assert sum(engine.sent.values()) == 6 + 1 + 1 + 6  # each once, in flight, torn, probes


def test_a_torn_head_is_written_again(tmp_path: Path) -> None:
    plan, path = plan_of(singles(1)), tmp_path / "warm.json"
    (tmp_path / "warm.json.journal").write_bytes(b'{"plan":"abc')
    resumed(plan, Counting(), path)
    assert entries(path)[0].plan == digest(plan)
    with pytest.raises(BadInput):
        resumed(plan_of(singles(2)), Counting(), path)


def test_a_line_damaged_in_the_middle_is_not_guessed_at(tmp_path: Path) -> None:
    plan, path = plan_of(singles(3)), tmp_path / "warm.json"
    run_virtual(Warmer(plan, Counting(), journal=WarmJournal(path)).run())
    journal = tmp_path / "warm.json.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], b"garbage\n", *lines[2:]]))
    with pytest.raises(BadInput, match=r"journal:3 is damaged"):
        resumed(plan, Counting(), path)


def test_the_journal_of_another_plan_or_engine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "warm.json"
    run_virtual(Warmer(plan_of(singles(3)), Counting(), journal=WarmJournal(path)).run())
    with pytest.raises(BadInput, match="another plan or engine"):
        resumed(plan_of(singles(4)), Counting(), path)
    with pytest.raises(BadInput, match="another plan or engine"):
        resumed(plan_of(singles(3)), Counting(name="other"), path)


def test_without_resume_an_old_journal_is_begun_anew(tmp_path: Path) -> None:
    path, engine = tmp_path / "warm.json", Counting()
    run_virtual(Warmer(plan_of(singles(3)), engine, journal=WarmJournal(path)).run())
    run = run_virtual(Warmer(plan_of(singles(2)), engine, journal=WarmJournal(path)).run())
    assert run.counts == {"ALREADY": 2}
    assert len([entry for entry in entries(path) if not entry.probing]) == 5


def test_a_journal_that_cannot_be_removed_is_a_storage_fault(tmp_path: Path) -> None:
    (tmp_path / "warm.json.journal").mkdir()
    with pytest.raises(StorageFault):
        run_virtual(Warmer(plan_of(singles(1)), Counting(), journal=WarmJournal(tmp_path / "warm.json")).run())


def test_missing_stays_missing_when_the_run_goes_on(tmp_path: Path) -> None:
    plan, path, stop = plan_of(singles(8, blocks=5)), tmp_path / "warm.json", asyncio.Event()
    engine = Counting(SandboxSettings(capacity_blocks=30))

    async def first() -> WarmRun:
        def watch(stage: str, done: int, total: int) -> None:
            if stage == "verify" and done == 2:
                stop.set()

        warmer = Warmer(plan, engine, WarmSettings(concurrency=1), journal=WarmJournal(path), stop=stop, progress=watch)
        return await warmer.run()

    before = run_virtual(first())
    assert [each.status for each in before.items[:2]] == [Outcome.MISSING] * 2
    after = resumed(plan, engine, path)
    assert [each.status for each in after.items[:2]] == [Outcome.MISSING] * 2
    assert [each.cached_tokens for each in after.items[:2]] == [0, 0]
    assert after.items[0].probe_tokens > before.items[0].probe_tokens
    assert after.tokens_computed == engine.computed_tokens


def test_what_was_found_there_is_asked_again(tmp_path: Path) -> None:
    plan, engine, path = plan_of(singles(3)), Counting(), tmp_path / "warm.json"
    run_virtual(Warmer(plan, engine, journal=WarmJournal(path)).run())
    assert run_virtual(engine.reset())
    run = resumed(plan, engine, path)
    assert run.counts == {"MISSING": 3}
