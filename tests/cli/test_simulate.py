"""``preheat simulate`` on logs whose every hit can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import DEMO_LOG, one_line, preheat
from preheat.files.versioned import load
from preheat.records.curve import CapacityCurve


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two prompts of 10 whole blocks each, in turn, six times; they share nothing."""
    path = tmp_path / "log.jsonl"
    lines = [{"id": f"r{n}", "timestamp": float(n), "prompt": "ab"[n % 2] * 640, "input_tokens": 80} for n in range(6)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_table_names_denominator_and_window(log: Path) -> None:
    done = preheat("simulate", log, "--capacity", "10blocks,20")
    assert (done.returncode, done.stderr) == (0, "")
    assert "60 whole blocks of 64 characters, of 6 requests" in done.stdout
    assert "from 0 s to 5 s, cold start" in done.stdout
    assert "20 (33.3%): never seen before" in done.stdout
    assert "8 tokens, at 8 characters a token" in done.stdout


def test_json_has_the_whole_curve(log: Path, tmp_path: Path) -> None:
    curve_file = tmp_path / "curve.json"
    flags = ("--policy", "all", "--capacity", "10blocks,1KiB,100%", "--bytes-per-token", 8, "--json", "-o", curve_file)
    done = preheat("simulate", log, *flags)
    assert done.returncode == 0, done.stderr
    curve = json.loads(done.stdout)
    assert curve["capacities"] == [10, 16, 20]
    assert curve["capacity_bytes"] == [640, 1024, 1280]
    found = {each["policy"]: each["hit_blocks"] for each in curve["policies"]}
    assert found["lru"] == [0, 24, 40]
    assert found["optimal"] == [20, 32, 40]
    assert all(hits <= best for hits, best in zip(found["lru"], found["optimal"], strict=True))
    assert curve["ceiling_blocks"] == 40
    assert load(curve_file, CapacityCurve).ceiling_blocks == 40


def test_it_counts_from_a_moment_on(log: Path) -> None:
    done = preheat("simulate", log, "--from", "2s", "--capacity", "20", "--json")
    curve = json.loads(done.stdout)
    assert (curve["requests"], curve["blocks"], curve["compulsory_blocks"]) == (4, 40, 0)


def test_the_ceiling_is_what_mining_finds_seen_before(tmp_path: Path) -> None:
    curve = json.loads(preheat("simulate", DEMO_LOG, "--json").stdout)
    mined = json.loads(preheat("mine", DEMO_LOG, "-o", tmp_path / "p.json.zst", "--json").stdout)
    assert mined["seen_before_share"] == pytest.approx(curve["ceiling_hit_rate"], abs=1e-4)
    assert (mined["blocks"], mined["distinct_blocks"]) == (curve["blocks"], curve["distinct_blocks"])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--policy", "lifo"), "there is no policy 'lifo'"),
        (("--policy", ","), "no policy was named"),
        (("--capacity", "4GiB"), "needs --bytes-per-token"),
        (("--capacity", "much"), "not a size"),
        (("--capacity", "0blocks"), "holds not one block"),
        (("--capacity", ","), "no capacity was named"),
        (("--from", "1h"), "nothing in the log is at or after --from"),
        (("--block-chars", "10000"), "no prompt of the log has a whole block"),
    ],
)
def test_what_cannot_be_is_said_on_one_line(log: Path, flags: tuple[str, ...], said: str) -> None:
    done = preheat("simulate", log, *flags)
    assert done.returncode == 2
    assert said in one_line(done)


def test_a_log_without_times_has_no_from(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"prompt": "x" * 640}) + "\n")
    assert "it has no times" in preheat("simulate", path).stdout
    assert "the log has no times" in one_line(preheat("simulate", path, "--from", "1h"))
