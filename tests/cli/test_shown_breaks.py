"""What ``preheat mine`` says of breaks: quoted, priced, redacted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.command import preheat, write_log
from preheat.files.versioned import load
from preheat.records.profile import Profile

SYSTEM = " ".join(f"Rule {number} of the house must be kept by everyone in it." for number in range(40))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Each prompt greets another address, which hides a long system prompt from the cache."""
    path = tmp_path / "log.jsonl"
    lines = []
    for number in range(60):
        system = f"You serve person{number}@example.org today. {SYSTEM}"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": f"What about rule {number}?"}]
        lines.append({"id": f"r{number}", "timestamp": number, "tenant": f"t{number % 5}", "messages": messages})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_people_see_the_place_and_its_price_but_no_addresses(log: Path, tmp_path: Path) -> None:
    done = preheat("mine", log, "-o", tmp_path / "p.json.zst")
    assert (done.returncode, done.stderr) == (0, "")
    assert "email at character 29: 60 variants in 60 requests" in done.stdout
    assert "You serve" in done.stdout
    assert "[email]" in done.stdout
    assert "tenants: t0 (12), t1 (12), t2 (12) and 2 more" in done.stdout
    assert "@" not in done.stdout


def test_json_has_them_as_well_and_the_profile_has_them_raw(log: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.json.zst"
    done = preheat("mine", log, "-o", profile, "--json")
    (told,) = json.loads(done.stdout)["breaks"]
    assert told["cause"] == "email"
    assert told["variants"] == told["requests"] == 60
    assert 0.8 < told["lost_share"] < 1
    assert "@" not in done.stdout
    assert "@example.org" in load(profile, Profile).breaks[0].examples[0]
    assert json.loads(preheat("mine", log, "-o", profile, "--json", "--breaks", 0).stdout)["breaks"] == []


def test_without_text_places_are_kept_and_quotes_are_not(log: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.json"
    assert preheat("mine", log, "-o", profile, "--no-text").returncode == 0
    (kept,) = load(profile, Profile).breaks
    assert (kept.before, kept.examples, kept.after) == ("", (), "")
    assert "person" not in profile.read_text()


def test_where_nothing_breaks_that_is_said(tmp_path: Path) -> None:
    done = preheat("mine", write_log(tmp_path / "log.jsonl"), "-o", tmp_path / "p.json.zst")
    assert "no prefix breaks before text that prompts share" in done.stdout


SECRETS = {
    "a password": ["The password: {0}xq81 holds.", "hunter{0}", "xq81"],
    "a phone number": ["Her phone is +49 171 55512{0} now.", "{0}", "55512"],
    "a phone number in groups": ["Her phone is +49 171 {0} 777 now.", "555{0}", "777"],
    "a card": ["The card {0} pays.", "", "4111"],
}


def _card(number: int) -> str:
    digits = f"411111111111{number:03}"
    total = sum(sum(divmod(int(d) * (2 - place % 2), 10)) for place, d in enumerate(digits))
    return digits + str(-total % 10)


@pytest.mark.parametrize("kind", SECRETS)
def test_secrets_that_need_what_stands_before_them_are_never_shown(kind: str, tmp_path: Path) -> None:
    form, value, raw = SECRETS[kind]
    lines = []
    for number in range(60):
        secret = value.format(10 + number) or _card(number)
        prompt = f"{SYSTEM[:300]} {form.format(secret)} {SYSTEM} What about rule {number * 7}? {SYSTEM[::-1][:200]}"
        lines.append({"id": f"r{number}", "timestamp": number, "prompt": prompt})
    log, profile, merged = tmp_path / "log.jsonl", tmp_path / "p.json.zst", tmp_path / "m.json.zst"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    mined = preheat("mine", log, "-o", profile)
    assert "variants in 60 requests" in mined.stdout
    told = [mined, preheat("mine", log, "-o", profile, "--json"), preheat("merge", profile, profile, "-o", merged)]
    told.append(preheat("merge", profile, "-o", merged, "--json"))
    for number in (7, 31, 59):
        for flags in ((), ("--json",)):
            told.append(preheat("explain", f"{log}#r{number}", "--profile", profile, *flags))
    for done in told:
        assert (done.returncode, done.stderr) == (0, "")
        assert raw not in done.stdout
        assert re.search(r"\[(key|phone|card)\]", done.stdout)
        assert not re.search(r"hunter\d|555\d", done.stdout)


def test_merging_says_where_prefixes_break_as_mining_does(log: Path, tmp_path: Path) -> None:
    profile, merged = tmp_path / "p.json.zst", tmp_path / "m.json.zst"
    mined = preheat("mine", log, "-o", profile)
    done = preheat("merge", profile, "-o", merged)
    assert "email at character" in done.stdout
    assert done.stdout.split("prefixes break")[1] == mined.stdout.split("prefixes break")[1]
    assert "prefixes break" not in preheat("merge", profile, "-o", merged, "--breaks", 0).stdout
