"""Which plan item covers a request: the deepest one, of the same model and adapter."""

from __future__ import annotations

import pytest

from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Request
from preheat.replay.coverage import coverage_of
from preheat.replay.player import Coverage
from replay.traffic import words
from warm.plans import item, plan_of, text

TRUNK = text("trunk", 4)
BRANCH = TRUNK + text("branch", 3)
RENDERER = renderer_for(Rendering())


def asked(prompt: str, **more: str) -> Coverage:
    leader = item("leader", TRUNK)
    plan = plan_of(
        [leader, item("branch", BRANCH, leader), item("legal", TRUNK, adapter="legal"), item("none", "")],
    )
    return coverage_of(plan, RENDERER)(Request(id="r", prompt=prompt, **more))


def test_the_deepest_item_is_found_with_its_share() -> None:
    prompt = BRANCH + words("question", 152)
    assert asked(prompt) == Coverage("branch", pytest.approx(448 / 600, abs=1e-4))
    assert asked(TRUNK + words("other", 44)) == Coverage("leader", pytest.approx(256 / 300, abs=1e-4))
    assert asked(BRANCH) == Coverage("branch", 1.0)


def test_half_a_branch_is_covered_by_the_leader_alone() -> None:
    assert asked(BRANCH[:-70]).item == "leader"


def test_another_adapter_model_or_beginning_is_not_covered() -> None:
    assert asked(TRUNK + "x", adapter="legal").item == "legal"
    assert asked(TRUNK + "x", adapter="medical") == Coverage(None, 0.0)
    assert asked(TRUNK + "x", model="other") == Coverage(None, 0.0)
    assert asked("x" + TRUNK) == Coverage(None, 0.0)
    assert asked("") == Coverage(None, 0.0)


def test_a_prompt_that_the_template_refuses_is_covered_by_nothing() -> None:
    renderer = renderer_for(Rendering(name="no", source="here", template="{{ raise_exception('no') }}"))
    plan = plan_of([item("leader", TRUNK)])
    assert coverage_of(plan, renderer)(Request(id="r")) == Coverage(None, 0.0)
