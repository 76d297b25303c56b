"""Profile + budget → plan, from the log to the items, with the pieces that really run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
from forests import BLOCK, completion, profile_of, words

from preheat.errors import BadInput, InfeasibleBudget
from preheat.mine.tokens import count_tokens
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.plan.strategies.strategy import STRATEGIES
from preheat.records.outcomes import Retention
from preheat.records.plan import Plan
from preheat.records.profile import Node, Partition, Profile
from preheat.records.rendering import Prefix
from preheat.records.request import Request
from preheat.records.target import CostModel, EngineInfo

COST = CostModel(prefill_ms_per_token=1.0, kv_bytes_per_token=10.0, chars_per_token=4.0, source="given")
TOKENS_PER_BLOCK = BLOCK // 2
"""What the tests' tokenizer makes of a block: twice what the cost model assumes."""


async def count(prefixes: Sequence[Prefix]) -> list[int] | None:
    """A tokenizer with two characters per token."""
    return [len(prefix.text) // 2 for prefix in prefixes]


async def no_word(prefixes: Sequence[Prefix]) -> list[int] | None:
    return None


def engine_of(**more: Any) -> EngineInfo:
    return EngineInfo(**{"kind": "vllm", "url": "http://engine", "model": "served", **more})


def log_of(*prompts: str, **more: Any) -> list[Request]:
    return [completion(prompt, float(number), **more) for number, prompt in enumerate(prompts)]


CHATS = log_of(*[words("system", "tools", f"user{number}", "tail") for number in range(8)] * 2)


async def plan_of(profile: Profile, *, measure: Any = None, engine: EngineInfo | None = None, **settings: Any) -> Plan:
    return await make_plan(
        profile, PlanSettings(**settings), profile_hash="p", cost=COST, engine=engine, measure=measure
    )


async def test_items_are_prefixes_that_prompts_share_and_add_up() -> None:
    plan = await plan_of(profile_of(CHATS), measure=count)
    assert plan.items[0].text == words("system", "tools")
    assert {item.text for item in plan.items[1:]} == {request.prompt for request in CHATS}
    assert all(item.tokens_exact for item in plan.items)
    assert [item.tokens for item in plan.items] == [2 * TOKENS_PER_BLOCK] + [4 * TOKENS_PER_BLOCK] * 8
    assert {item.leader for item in plan.items[1:]} == {plan.items[0].id}
    assert plan.items[0].leader is None
    assert plan.distinct_tokens == (2 + 8 * 2) * TOKENS_PER_BLOCK
    assert plan.bytes == plan.distinct_tokens * 10
    assert plan.cost_ms == plan.distinct_tokens
    assert plan.items[0].seen == 16
    assert len({item.id for item in plan.items}) == 9
    assert plan.left_out == {}
    assert plan.cost.chars_per_token == 2.0


async def test_without_a_tokenizer_tokens_are_estimated_and_said_to_be() -> None:
    for measure in (None, no_word):
        plan = await plan_of(profile_of(CHATS), measure=measure)
        assert not any(item.tokens_exact for item in plan.items)
        assert plan.items[0].tokens == 2 * BLOCK / 4
        assert plan.cost == COST


async def test_counts_that_the_engine_gives_decide_what_fits() -> None:
    budget = int(12 * TOKENS_PER_BLOCK * COST.kv_bytes_per_token)
    estimated = await plan_of(profile_of(CHATS), budget_bytes=budget)
    exact = await plan_of(profile_of(CHATS), budget_bytes=budget, measure=count)
    assert len(estimated.items) > len(exact.items) == 1 + 5
    assert exact.bytes == budget
    assert exact.left_out == {"over the budget": 3}


async def test_nothing_is_planned_that_the_engine_has_not_counted() -> None:
    async def few(prefixes: Sequence[Prefix]) -> list[int] | None:
        return [len(prefix.text) // 8 for prefix in prefixes]

    plan = await plan_of(profile_of(CHATS), budget_bytes=6 * 2 * 10, measure=few)
    assert len(plan.items) == 1 + 3  # estimated at twice their tokens, under half as much budget again
    assert all(item.tokens_exact for item in plan.items)
    assert plan.left_out["over the budget"] == 9 - len(plan.items)


@pytest.mark.parametrize("measure", [None, no_word, count])
@pytest.mark.parametrize("limit", [{"budget_bytes": 3}, {"budget_ms": 0.5}, {"budget_bytes": 0}])
@pytest.mark.parametrize("retention", Retention)
async def test_a_budget_that_holds_nothing_is_infeasible(
    measure: Any, limit: dict[str, Any], retention: Retention
) -> None:
    for strategy in ("preheat", "every-prompt", "clusters"):
        with pytest.raises(InfeasibleBudget, match="holds not even one"):
            await plan_of(
                profile_of(CHATS), measure=measure, engine=engine_of(retention=retention), strategy=strategy, **limit
            )


async def test_a_log_with_nothing_worth_warming_gives_an_empty_plan() -> None:
    profile = profile_of([completion(words("only", "once"), 0.0), completion(words("later"), 90 * 86_400.0)])
    plan = await plan_of(profile, min_use_probability=0.99, budget_bytes=1, measure=count)
    assert plan.items == []
    assert any("no prefix is likely" in note for note in plan.notes)


async def test_prompts_shorter_than_a_block_give_an_empty_plan_that_says_so() -> None:
    plan = await plan_of(profile_of([completion("hi", 0.0), completion("ho", 1.0)]))
    assert plan.items == []
    assert any("a whole block" in note for note in plan.notes)


async def test_text_that_was_dropped_takes_no_candidates_place() -> None:
    profile = profile_of(CHATS, kept_chars=5 * BLOCK)
    dropped = sum(node.text is None for node in profile.nodes)
    assert 0 < dropped < len(profile.nodes)
    for strategy in ("preheat", "every-prompt"):
        plan = await plan_of(profile, strategy=strategy, max_candidates=len(profile.nodes) - dropped)
        assert plan.items
        assert all(any((request.prompt or "").startswith(item.text) for request in CHATS) for item in plan.items)


async def test_a_trace_beside_the_log_is_no_second_model() -> None:
    trace = Request(id="t", time_s=0.0, blocks=(1, 2), block_tokens=16)
    log = [*log_of(*[request.prompt or "" for request in CHATS], model="theirs"), trace]
    plan = await plan_of(profile_of(log), engine=engine_of())
    assert plan.items
    with pytest.raises(BadInput, match="trace of block ids"):
        await plan_of(profile_of([trace]))


async def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(BadInput, match="no strategy 'best'"):
        await plan_of(profile_of(CHATS), strategy="best")
    with pytest.raises(BadInput, match="has no text"):
        await plan_of(profile_of(CHATS, keep_text=False))


async def test_the_engines_capacity_bounds_the_budget_and_is_noted() -> None:
    engine = engine_of(capacity_tokens=8 * TOKENS_PER_BLOCK)
    for budget in (None, 10**9):
        plan = await plan_of(profile_of(CHATS), engine=engine, measure=count, budget_bytes=budget, capacity_share=0.5)
        assert plan.budget_bytes == 4 * TOKENS_PER_BLOCK * 10
        assert plan.distinct_tokens == 4 * TOKENS_PER_BLOCK
        assert any("50% of the 32 tokens" in note for note in plan.notes)
    small = await plan_of(profile_of(CHATS), engine=engine, measure=count, budget_bytes=100)
    assert small.budget_bytes == 100
    assert not any("tokens that the engine" in note for note in small.notes)


async def test_no_bound_at_all_is_noted() -> None:
    plan = await plan_of(profile_of(CHATS))
    assert any("memory is not bounded" in note for note in plan.notes)
    assert not any("assumed" in note for note in plan.notes)


async def test_what_is_shorter_than_a_cache_block_is_left_out_and_counted() -> None:
    engine = engine_of(block_tokens=3 * TOKENS_PER_BLOCK)
    for measure in (None, count):
        plan = await plan_of(profile_of(CHATS), engine=engine, measure=measure)
        size = 3 * TOKENS_PER_BLOCK
        assert all(item.resident_tokens % size == 0 < item.new_tokens for item in plan.items)
        assert all(item.resident_tokens <= item.tokens < item.resident_tokens + size for item in plan.items)
        assert plan.left_out["shorter than one cache block"] == (1 if measure else 9)


async def test_an_engine_of_whole_states_gets_an_antichain_within_its_budget() -> None:
    engine = engine_of(kind="llamacpp", retention=Retention.STATES)
    steady = log_of(*[words("system", "tools", "user0", "tail")] * 30, words("system", "tools", "other"))
    plan = await plan_of(profile_of(steady), engine=engine, measure=count)
    texts = [item.text or "" for item in plan.items]
    assert words("system", "tools", "user0", "tail") in texts
    assert not [one for one in texts for other in texts if one != other and other.startswith(one)]
    assert plan.bytes == sum(item.resident_tokens for item in plan.items) * 10
    short = await plan_of(profile_of(steady), engine=engine, measure=count, budget_bytes=2 * TOKENS_PER_BLOCK * 10)
    assert [item.text for item in short.items] == [words("system", "tools")]
    assert short.left_out["over the budget"] >= 1


def two_models() -> Profile:
    return profile_of(
        log_of(*[words("a-system", "x")] * 4, model="model-a")
        + log_of(*[words("b-system", "x")] * 4, model="model-b")
        + log_of(*[words("b-system", "x")] * 4, model="model-b", adapter="lora")
    )


async def test_of_two_models_the_engines_own_is_planned_for() -> None:
    plan = await plan_of(two_models(), engine=engine_of(model="model-b"))
    assert {(item.model, item.adapter) for item in plan.items} == {("model-b", None), ("model-b", "lora")}
    assert len({item.id for item in plan.items}) == len(plan.items) == 2
    assert plan.left_out == {"for another model: model-a": 1}


async def test_an_alias_says_which_model_is_meant() -> None:
    with pytest.raises(BadInput, match="serves none of them"):
        await plan_of(two_models(), engine=engine_of())
    plan = await plan_of(two_models(), engine=engine_of(), model_aliases=(("model-a", "served"),))
    assert {item.model for item in plan.items} == {"model-a"}
    chosen = await plan_of(two_models(), engine=engine_of(), model="model-b")
    assert {item.model for item in chosen.items} == {"model-b"}
    with pytest.raises(BadInput, match="no model 'model-c'"):
        await plan_of(two_models(), model="model-c")


async def test_one_model_or_no_engine_needs_no_choice() -> None:
    assert {item.model for item in (await plan_of(two_models())).items} == {"model-a", "model-b"}
    single = profile_of(log_of(*[words("system")] * 3, model="called otherwise"))
    assert len((await plan_of(single, engine=engine_of())).items) == 1


async def test_tenants_and_expectations_stand_in_the_items() -> None:
    log = log_of(*[words("shared")] * 3, tenant="acme") + log_of(*[words("shared")] * 2, tenant="zeta")
    (item,) = (await plan_of(profile_of(log))).items
    assert (item.tenant, item.tenants) == ("acme", {"acme": 3, "zeta": 2})
    assert 0 < item.use_probability <= 1
    assert item.expected_uses > item.use_probability
    assert item.gain_ms == pytest.approx(item.use_probability * item.new_tokens, rel=1e-4)


async def test_planning_twice_gives_the_same_plan() -> None:
    for strategy in STRATEGIES:
        plans = [await plan_of(profile_of(CHATS), strategy=strategy, measure=count) for _ in range(2)]
        assert plans[0] == plans[1]


async def test_none_warms_nothing() -> None:
    plan = await plan_of(profile_of(CHATS), strategy="none", measure=count, budget_bytes=1)
    assert (plan.items, plan.left_out) == ([], {})


async def test_every_prompt_covers_every_prompts_whole_blocks_commonest_first() -> None:
    rare = completion(words("rare") + "rest", 99.0)
    log = [*CHATS, rare, *log_of(*[words("system")] * 5)]
    plan = await plan_of(profile_of(log), strategy="every-prompt", measure=count)
    wanted = {(request.prompt or "")[: len(request.prompt or "") // BLOCK * BLOCK] for request in log}
    assert {item.text for item in plan.items} == wanted
    assert plan.items[0].text == words("system")
    assert plan.items[-1].text == words("rare")
    assert plan.distinct_tokens == (2 + 8 * 2 + 1) * TOKENS_PER_BLOCK


async def test_clusters_warm_representatives_and_pay_for_what_they_share_once() -> None:
    plan = await plan_of(profile_of(CHATS, cluster_threshold=1.01), strategy="clusters", measure=count)
    assert {item.text for item in plan.items} == {request.prompt for request in CHATS}
    assert plan.distinct_tokens == (2 + 8 * 2) * TOKENS_PER_BLOCK
    one = await plan_of(profile_of(CHATS, cluster_threshold=0.0), strategy="clusters", measure=count)
    assert len(one.items) == 1
    assert one.items[0].text in {request.prompt for request in CHATS}


async def test_the_largest_cluster_comes_first_and_short_ones_do_not_count() -> None:
    log = log_of(*[words("b", "c", "d")] * 2, *[words("x", "y", "z")] * 5, "tiny", "tiny", words("x", "y", "z") + "!")
    plan = await plan_of(profile_of(log), strategy="clusters")
    assert [item.text for item in plan.items] == [words("x", "y", "z"), words("b", "c", "d")]


def deep_profile(chains: int, depth: int) -> Profile:
    nodes = []
    for number in range(chains * depth):
        left = depth - number % depth
        parent = -1 if number % depth == 0 else number - 1
        nodes.append(
            Node(
                parent=parent,
                hash=f"{number:032x}",
                blocks=1,
                text="x" * 64,
                count=2 * left,
                ends=2,
                first_s=0.0,
                last_s=86_000.0,
                arrivals={280: left, 285: left},
            )
        )
    return Profile(end_s=86_400.0, nodes=nodes, partitions=[Partition(None, None, 1)])


@pytest.mark.parametrize("strategy", ["preheat", "every-prompt"])
async def test_deep_conversations_plan_quickly(strategy: str) -> None:
    """20,000 turns in conversations of 500: about 1 s. Walking a path per price took 15 s."""
    profile = deep_profile(40, 500)
    start = time.process_time()
    plan = await plan_of(profile, strategy=strategy, budget_bytes=100_000)
    assert time.process_time() - start < 8
    assert plan.items


async def test_tokens_that_the_profile_says_are_believed_where_no_engine_counts() -> None:
    counted = count_tokens(profile_of(CHATS), lambda texts: [len(text) // 3 for text in texts], "tiny", least=1)
    plan = await make_plan(counted, PlanSettings(), profile_hash="p")
    assert {item.tokens for item in plan.items} == {2 * BLOCK // 3, 4 * BLOCK // 3}
    assert not any(item.tokens_exact for item in plan.items)
    assert plan.cost.chars_per_token == pytest.approx(3.0, rel=0.1)
    measured = await plan_of(counted, measure=count)
    assert [item.tokens for item in measured.items] == [2 * TOKENS_PER_BLOCK] + [4 * TOKENS_PER_BLOCK] * 8
