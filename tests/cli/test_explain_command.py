"""``preheat explain LOG#REQUEST``."""

from __future__ import annotations

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
