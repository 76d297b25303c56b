"""``preheat explain LOG#REQUEST``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from cli.command import one_line, preheat, write_log
from preheat.records.explanation import Explanation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("explain")
    write_log(found / "log.jsonl")
    assert preheat("mine", "log.jsonl", "-o", "p.json.zst", cwd=found).returncode == 0
    return found


def test_a_request_is_named_by_id_or_by_line(folder: Path) -> None:
    by_id = preheat("explain", "log.jsonl#r200", "--profile", "p.json.zst", cwd=folder)
    by_line = preheat("explain", "log.jsonl#201", "--profile", "p.json.zst", cwd=folder)
    assert (by_id.returncode, by_id.stderr) == (0, "")
    assert by_id.stdout == by_line.stdout
    assert "request r200 (log.jsonl:201) at 7000 s, tenant t0" in by_id.stdout
    assert "t0 (60)" in by_id.stdout
    assert "it leaves what had been seen at block" in by_id.stdout


def test_json_follows_its_record(folder: Path) -> None:
    done = preheat(
        "explain", "log.jsonl#r200", "--profile", "p.json.zst", "--ms-per-token", "0.5", "--json", cwd=folder
    )
    told = msgspec.json.decode(done.stdout, type=Explanation)
    assert told.found_blocks + told.avoidable_blocks + told.compulsory_blocks == told.blocks
    assert told.found_blocks > 20
    assert told.missed_ms == pytest.approx((told.blocks - told.found_blocks) * told.tokens_per_block * 0.5)


@pytest.mark.parametrize(
    ("which", "profile", "said"),
    [
        ("log.jsonl#nobody", "p.json.zst", "has no request 'nobody': there are 240"),
        ("log.jsonl", "p.json.zst", "names no request"),
        ("log.jsonl#", "p.json.zst", "names no request"),
        ("nowhere.jsonl#1", "p.json.zst", "there is no file nowhere.jsonl"),
        ("log.jsonl#1", "q.json.zst", "q.json.zst"),
        ("log.jsonl#1", "log.jsonl", "not a Preheat file"),
    ],
)
def test_what_is_not_there_is_named(folder: Path, which: str, profile: str, said: str) -> None:
    done = preheat("explain", which, "--profile", profile, cwd=folder)
    assert done.returncode == 2
    assert said in one_line(done)


def test_another_rendering_is_refused(folder: Path) -> None:
    (folder / "other.jinja").write_text("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}")
    done = preheat("explain", "log.jsonl#1", "--profile", "p.json.zst", "--model", "other.jinja", cwd=folder)
    assert done.returncode == 2
    assert "their prefixes do not compare" in one_line(done)
    assert preheat("mine", "log.jsonl", "--model", "other.jinja", "-o", "o.json.zst", cwd=folder).returncode == 0
    for flags in ((), ("--model", "other.jinja")):
        done = preheat("explain", "log.jsonl#9", "--profile", "o.json.zst", *flags, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_request_without_a_prompt_cannot_be_explained(folder: Path) -> None:
    (folder / "azure.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n")
    done = preheat("explain", "azure.csv#azure.csv:2", "--profile", "p.json.zst", cwd=folder)
    assert done.returncode == 2
    assert "neither a prompt nor ids of blocks" in one_line(done)


def _lines(path: Path, *requests: dict[str, object]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in requests))


def test_ids_and_names_of_files_may_hold_the_sign_that_parts_them(folder: Path) -> None:
    turns = [{"from": "human", "value": "Hello?"}, {"from": "gpt", "value": "Yes."}, {"from": "human", "value": "So?"}]
    _lines(folder / "talk.jsonl", {"id": "conv0", "conversations": turns})
    _lines(folder / "a#b.jsonl", {"id": "x#1", "timestamp": 1, "prompt": "abc"})
    for which, told in (
        ("talk.jsonl#conv0#1", "request conv0#1 (talk.jsonl:1)"),
        ("a#b.jsonl#x#1", "request x#1 (a#b.jsonl:1)"),
        ("a#b.jsonl#1", "request x#1 (a#b.jsonl:1)"),
    ):
        done = preheat("explain", which, "--profile", "p.json.zst", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert told in done.stdout
    several = preheat("explain", "talk.jsonl#1", "--profile", "p.json.zst", cwd=folder)
    assert several.returncode == 2
    assert "2 requests are at line '1'" in one_line(several)
    assert "#conv0#1" in one_line(several)
    assert "there is no file none.jsonl" in one_line(
        preheat("explain", "none.jsonl#conv0#1", "--profile", "p.json.zst", cwd=folder)
    )


def test_an_id_of_several_requests_is_refused_and_their_lines_are_named(folder: Path) -> None:
    prompts = [{"id": name, "timestamp": 1, "prompt": f"{name} {place}"} for place, name in enumerate(["x", "y", "x"])]
    _lines(folder / "twice.jsonl", *prompts)
    done = preheat("explain", "twice.jsonl#x", "--profile", "p.json.zst", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "2 requests have the id 'x'" in one_line(done)
    assert "#1, #3" in one_line(done)
    for name in ("3", "twice.jsonl:3"):
        done = preheat("explain", f"twice.jsonl#{name}", "--profile", "p.json.zst", cwd=folder)
        assert "request x (twice.jsonl:3)" in done.stdout


def test_short_times_are_in_milliseconds(folder: Path) -> None:
    done = preheat("explain", "log.jsonl#r200", "--profile", "p.json.zst", "--ms-per-token", "0.25", cwd=folder)
    missed = next(line for line in done.stdout.splitlines() if "missed" in line)
    tokens, cost = re.search(r"(\d+) tokens, ([0-9.]+) ms of prefill", missed).groups()  # type: ignore[union-attr]
    assert float(cost) == pytest.approx(int(tokens) / 4, abs=1)
    first = preheat("explain", "log.jsonl#1", "--profile", "p.json.zst", cwd=folder)
    assert "none earlier" in first.stdout
    assert "not seen before" not in first.stdout
