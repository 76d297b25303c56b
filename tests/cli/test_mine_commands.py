"""``mine`` with earlier profiles, and ``merge``: the same profile, whatever the way to it."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from command import DEMO_LOG, preheat

from preheat.files.versioned import load
from preheat.records.profile import Profile


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log, its two halves, and the profile of the whole."""
    folder = tmp_path_factory.mktemp("mine")
    lines = lzma.decompress(DEMO_LOG.read_bytes()).splitlines(keepends=True)[:400]
    (folder / "all.jsonl").write_bytes(b"".join(lines))
    (folder / "one.jsonl").write_bytes(b"".join(lines[:150]))
    (folder / "two.jsonl").write_bytes(b"".join(lines[150:]))
    assert preheat("mine", "all.jsonl", "-o", "all.json.zst", cwd=folder).returncode == 0
    return folder


def profile(work: Path, name: str) -> Profile:
    return load(work / name, Profile)


def test_yesterdays_profile_and_todays_log(work: Path) -> None:
    assert preheat("mine", "one.jsonl", "-o", "one.json.zst", cwd=work).returncode == 0
    assert preheat("mine", "one.json.zst", "two.jsonl", "-o", "grown.json.zst", cwd=work).returncode == 0
    assert profile(work, "grown.json.zst") == profile(work, "all.json.zst")


def test_profiles_merge(work: Path) -> None:
    for name in ("one", "two"):
        assert preheat("mine", f"{name}.jsonl", "-o", f"{name}.json", cwd=work).returncode == 0
    ran = preheat("merge", "two.json", "one.json", "-o", "both.json.zst", "--json", cwd=work)
    assert ran.returncode == 0, ran.stderr
    assert profile(work, "both.json.zst") == profile(work, "all.json.zst")
    assert json.loads(ran.stdout)["requests"] == 400


def test_a_tenant_is_dropped_from_a_profile(work: Path) -> None:
    tenant, count = max(profile(work, "all.json.zst").tenants.items(), key=lambda pair: pair[1])
    ran = preheat("mine", "all.json.zst", "--drop-tenant", tenant, "-o", "left.json", cwd=work)
    assert ran.returncode == 0, ran.stderr
    left = profile(work, "left.json")
    assert (left.requests, tenant in left.tenants) == (400 - count, False)
    assert tenant not in (work / "left.json").read_text()
    refused = preheat("mine", "left.json", "--drop-tenant", tenant, "-o", "x.json", cwd=work)
    assert refused.returncode == 2
    assert "knows no tenant" in refused.stderr


def test_until_cuts_logs_only(work: Path) -> None:
    ran = preheat("mine", "all.json.zst", "--until", "1h", "-o", "x.json", cwd=work)
    assert ran.returncode == 2
    assert "--until" in ran.stderr


def test_merge_says_what_does_not_fit(work: Path) -> None:
    ran = preheat("merge", "all.json.zst", "all.jsonl", cwd=work)
    assert ran.returncode == 2
    assert "all.jsonl" in ran.stderr
