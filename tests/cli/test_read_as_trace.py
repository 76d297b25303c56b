"""``preheat read --as``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import DEMO_LOG, one_line, preheat


def test_the_trace_can_be_simulated_and_says_what_it_holds(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    done = preheat("read", DEMO_LOG, "--as", "bailian", "-o", trace)
    assert (done.returncode, done.stderr) == (0, "")
    assert "16 tokens, taken to be 64 characters" in done.stdout
    assert "lengths estimated from characters" in done.stdout
    told = json.loads(preheat("read", DEMO_LOG, "--as", "bailian", "-o", trace, "--json").stdout)
    curve = json.loads(preheat("simulate", trace, "--json").stdout)
    assert curve["ceiling_hit_rate"] == pytest.approx(told["hit_rate"])
    assert (curve["blocks"], curve["distinct_blocks"]) == (told["blocks"], told["distinct_blocks"])


def test_it_prints_the_trace_and_nothing_else() -> None:
    done = preheat("read", DEMO_LOG, "--as", "mooncake", "--block-size", 64, "-o", "-")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert records[0].keys() == {"timestamp", "input_length", "output_length", "hash_ids", "block_size"}
    assert done.stderr == ""


def test_a_salt_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("0123456789abcdef\n")
    flags = ("read", DEMO_LOG, "--as", "mooncake", "-o", "-")
    from_file = preheat(*flags, "--salt-file", salt)
    from_environment = preheat(*flags, "--salt-env", "THE_SALT", env={"THE_SALT": "0123456789abcdef"})
    assert from_file.stdout == from_environment.stdout != preheat(*flags).stdout
    assert "0123456789abcdef" not in from_file.stdout


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--salt-file", "nowhere"), "cannot be read"),
        (("--salt-env", "NO_SUCH_SALT"), "NO_SUCH_SALT is not set"),
        (("--salt-file", "short"), "the salt has 5 bytes"),
    ],
)
def test_a_salt_that_is_none_is_refused(tmp_path: Path, flags: tuple[str, ...], said: str) -> None:
    (tmp_path / "short").write_text("salt!")
    done = preheat("read", DEMO_LOG, "--as", "mooncake", "-o", "t.jsonl", *flags, cwd=tmp_path)
    assert done.returncode == 2
    assert said in one_line(done)
    assert not (tmp_path / "t.jsonl").exists()


@pytest.mark.parametrize(
    "flags",
    [("--as", "mooncake"), ("--as", "mooncake", "-o", "x", "--rendered"), ("--salt-env", "X"), ("--as", "other")],
)
def test_flags_that_do_not_go_together(flags: tuple[str, ...]) -> None:
    assert preheat("read", DEMO_LOG, *flags).returncode == 2
