"""The lines under "Run it again" are lines that the command line takes, and do what was done."""

from __future__ import annotations

import shlex

import click
import msgspec
import pytest
from judge_runs import ENGINE, plan, replay, request, traffic, warm_run

from preheat.cli.app import app
from preheat.judge.judge import judge
from preheat.judge.rerun import commands
from preheat.records.profile import Profile
from preheat.records.run import ReplayRun


def parsed(line: str) -> dict[str, object]:
    """The parameters of ``line`` by the real parser, which refuses what it does not know."""
    program, *words = shlex.split(line)
    assert program == "preheat"
    command: click.Command = app
    context = command.make_context(program, words)
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        command = found
        context = command.make_context(name, words, parent=context)
    return dict(context.params)


def on(run: ReplayRun, url: str, **more: object) -> ReplayRun:
    return msgspec.structs.replace(run, engine=msgspec.structs.replace(ENGINE, url=url), **more)


@pytest.mark.parametrize("salted", [False, True])
@pytest.mark.parametrize("log", ["logs/monday.jsonl.gz", "a b.jsonl", "-", "s3://bucket/it's.jsonl"])
def test_every_line_is_one_that_the_command_line_takes(salted: bool, log: str) -> None:
    cold = on(traffic(False), "http://127.0.0.1:40001", salted=salted, log=log)
    warm = on(traffic(True), "http://10.0.0.5:8000", log=log)
    budget = msgspec.structs.replace(plan(), budget_ms=150_000.0, engine=ENGINE)
    lines = commands(cold, warm, warm_run(), budget, Profile())
    told = [parsed(line) for line in lines]
    assert [line.split()[1] for line in lines] == ["mine", "plan", "replay", "warm", "replay", "judge"]
    assert [one.get("output") for one in told] == [
        *("profile.json.zst", "plan.json", "cold-run.json", "warm.json", "warm-run.json", "report")
    ]
    first, second = told[2], told[4]
    assert (first["salted"], second["salted"]) == (salted, False)
    assert (first["engine"], second["engine"]) == (("COLD_URL",), ("http://10.0.0.5:8000",))
    assert (first["label"], second["label"]) == ("cold", "warm")
    assert first["plan"] == second["plan"] == "plan.json"
    assert first["window"] == 300.0
    assert told[0]["paths"] == (("LOG",) if log in ("a b.jsonl", "-") else (log,))
    last = told[5]
    assert (last["runs"], last["baseline"], last["plan"]) == (("warm-run.json",), "cold-run.json", "plan.json")
    assert (last["warm_run"], last["profile"]) == ("warm.json", "profile.json.zst")


def test_what_is_missing_is_not_named() -> None:
    for cold, warm in ((traffic(False), None), (None, traffic(True)), (traffic(False), traffic(True))):
        lines = commands(cold, warm)
        for line in lines:
            parsed(line)
        assert not any("plan.json" in line or "warm.json" in line for line in lines)
    assert commands(None, None) == []


def test_a_shortened_replay_is_run_again_as_far_as_it_came() -> None:
    short = replay([request("a"), request("b", due_s=10.0)], speed=2.0, window_requests=47)
    for planned in (None, plan()):
        line = commands(short, None, None, planned)[-2]
        assert "--from 86400.0 --window 20.002s --speed 2 " in line
    whole = replay([request("a")], from_s=86_450.0)
    assert "--from 86400.0 --window 300s" in commands(whole, None, None, plan())[-2]


def test_words_in_capitals_are_explained_and_given_lines_are_kept() -> None:
    cold = on(traffic(False), "http://127.0.0.1:40001")
    told = judge(cold=cold, warm=on(traffic(True), "http://[::1]:40002"), title="x")
    assert any("URL and COLD_URL: address of an engine" in note for note in told.notes)
    given = judge(cold=cold, warm=None, title="x", command_lines=["preheat up --logs x --engine embedded"])
    assert given.commands == ["preheat up --logs x --engine embedded"]
    assert not any("In the commands" in note for note in given.notes)


def test_salted_is_a_fact_of_each_run() -> None:
    both = judge(cold=on(traffic(False), "http://a", salted=True), warm=traffic(True), title="x")
    assert both.facts["salted"] == "cold: yes, in a cache namespace of its own; warm: no"
    assert judge(cold=traffic(False), warm=None, title="x").facts["salted"] == "no"
