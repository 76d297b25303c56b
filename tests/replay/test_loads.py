"""What of a window can be sent, and how heavy it is."""

from __future__ import annotations

import msgspec

from preheat.clock import run_virtual
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Request
from preheat.replay.loads import weigh
from preheat.sandbox.inprocess import InProcessEngine
from replay.traffic import chat


def test_what_the_log_cut_or_never_held_is_not_sent_and_counted() -> None:
    whole = [chat("a", 0.0), Request(id="p", time_s=1.0, prompt="Once upon a time")]
    cut = [msgspec.structs.replace(request, truncated=True) for request in whole]
    bare = [Request(id="b", time_s=2.0, input_tokens=100), Request(id="t", blocks=(1, 2), block_tokens=512)]
    skipped: dict[str, int] = {}

    async def work() -> list[str]:
        requests = [*cut, *whole, *bare]
        loads = await weigh(requests, renderer_for(Rendering()), InProcessEngine(), 4.0, skipped)
        return [load.request.id for load in loads]

    assert run_virtual(work()) == ["a", "p"]
    assert {reason.split(",")[0]: count for reason, count in skipped.items()} == {
        "the log cut their prompts": 2,
        "the log holds no text of them": 2,
    }
