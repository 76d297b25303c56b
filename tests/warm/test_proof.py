"""What must never count as proof of residency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from preheat.clock import run_virtual
from preheat.engines.engine import Prefill
from preheat.errors import BadInput, EngineFailed
from preheat.records.outcomes import Outcome
from preheat.records.rendering import Prefix
from preheat.records.run import WarmRun
from preheat.records.target import EngineInfo
from preheat.warm.runner import Warmer
from preheat.warm.settings import WarmSettings
from warm.plans import Counting, plan_of, singles

QUICK = WarmSettings(retry_base_s=0.01)


class LosingAnswers(Counting):
    """Computes, and then fails to answer, at the sends named by number."""

    def __init__(self, lost: set[int], forget_before: int | None = None) -> None:
        super().__init__()
        self.lost, self.forget_before, self.sends = lost, forget_before, 0

    async def prefill(self, prefix: Prefix, token_ids: Sequence[int] | None, **more: Any) -> Prefill:
        self.sends += 1
        number = self.sends
        if number == self.forget_before:
            await self.reset()
        reply = await super().prefill(prefix, token_ids, **more)
        if number in self.lost:
            raise EngineFailed("closed the stream half-way")
        return reply


def test_a_probe_whose_answer_is_lost_is_not_asked_again() -> None:
    """The engine evicts everything, the first probe fills it again, and its answer never arrives."""
    engine = LosingAnswers(lost={3}, forget_before=3)
    run = run_virtual(Warmer(plan_of(singles(2)), engine, QUICK).run())
    assert [each.status for each in run.items] == [Outcome.MISSING, Outcome.MISSING]
    assert "the answer to its first probe was lost" in run.items[0].reason
    assert engine.sends == 4


def test_a_warm_up_that_needed_a_second_try_was_not_there_already() -> None:
    run = run_virtual(Warmer(plan_of(singles(1)), LosingAnswers(lost={1}), QUICK).run())
    assert [each.status for each in run.items] == [Outcome.LOADED]
    assert run.items[0].attempts == 2


class TextOnly(Counting):
    """Has no tokenizer, and larger cache blocks than the prompts are long."""

    async def describe(self) -> EngineInfo:
        return msgspec.structs.replace(await super().describe(), block_tokens=4096)

    async def shared_tokens(self, prefixes: Sequence[Prefix]) -> None:  # type: ignore[override]
        return None


def test_what_is_shorter_than_a_block_can_not_be_proven() -> None:
    run: WarmRun = run_virtual(Warmer(plan_of(singles(2)), TextOnly(), QUICK).run())
    assert [each.status for each in run.items] == [Outcome.UNSUPPORTED, Outcome.UNSUPPORTED]
    assert run.residency == 0.0


@pytest.mark.parametrize("leader", ["single-0", "single-1"])
def test_a_plan_whose_items_wait_for_each_other_is_refused(leader: str) -> None:
    plan = plan_of(singles(2))
    first = msgspec.structs.replace(plan.items[0], leader=leader)
    with pytest.raises(BadInput, match="does not stand before it"):
        run_virtual(Warmer(msgspec.structs.replace(plan, items=[first, plan.items[1]]), Counting(), QUICK).run())
