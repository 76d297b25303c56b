"""What is done is on disk before the next thing starts, so that a killed run loses nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec

from preheat.errors import BadInput
from preheat.files.atomic import storage_fault
from preheat.files.versioned import Journal
from preheat.records.outcomes import Outcome


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event: the head of a run (``plan`` and ``engine``), a warmed item, a probe about to be sent (``probing``), or
    a probed item (``status``).

    ``computed_before``: what was cached of it came from items that the same run had warmed before.
    """

    plan: str | None = None
    engine: str | None = None
    id: str | None = None
    warmed: bool = False
    probing: bool = False
    status: Outcome | None = None
    predicted_tokens: int = 0
    cached_tokens: int | None = None
    cached_before: int | None = None
    computed_before: bool = False
    computed_tokens: int = 0
    probe_tokens: int = 0
    warm_ms: float = 0.0
    probe_ms: float = 0.0
    attempts: int = 0
    reason: str = ""


class WarmJournal:
    """The journal beside a warm-up's result: ``warm.json`` → ``warm.json.journal``."""

    def __init__(self, result: Path) -> None:
        self.path = result.with_name(result.name + ".journal")
        self._journal = Journal(self.path)

    def start(self, plan: str, engine: str, resume: bool) -> tuple[dict[str, Entry], dict[str, Entry], set[str]]:
        """Begin, or take up what is there: ``(warmed, probed, torn)`` by item id, all empty on a fresh start.

        ``torn``: warmed, but its probe's answer never came to be written; what that probe filled is not known, so the
        item counts as not warmed.
        """
        warmed: dict[str, Entry] = {}
        probed: dict[str, Entry] = {}
        torn: set[str] = set()
        headed = False
        if resume:
            for entry in self._journal.read(Entry):
                headed = headed or entry.plan is not None
                if entry.plan is not None and (entry.plan, entry.engine) != (plan, engine):
                    raise BadInput(
                        f"{self.path} belongs to another plan or engine ({entry.engine})",
                        "resume with the same plan and engine, or start afresh without --resume",
                    )
                if entry.id is not None and entry.probing:
                    torn.add(entry.id)
                elif entry.id is not None and entry.status is not None:
                    probed[entry.id] = entry
                    torn.discard(entry.id)
                elif entry.id is not None:
                    warmed[entry.id] = entry
        else:
            self.remove()
        if not headed:
            self._journal.append(Entry(plan=plan, engine=engine))
        return {number: entry for number, entry in warmed.items() if number not in torn}, probed, torn

    def add(self, entry: Entry) -> None:
        self._journal.append(entry)

    def close(self) -> None:
        """Safe to call twice."""
        self._journal.close()

    def remove(self) -> None:
        """A finished run whose result is saved needs no journal. Raises :class:`StorageFault`."""
        try:
            self._journal.remove()
        except OSError as error:
            raise storage_fault(self.path, error) from error
