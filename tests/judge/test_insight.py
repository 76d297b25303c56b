"""What a report says of a log: redacted, and without anything that few prompts hold."""

from __future__ import annotations

import re

import msgspec
import pytest
from log_insights import insight as made_up

from preheat.judge.insight import EXCERPT_CHARS, MOST_CLUSTERS, insight
from preheat.judge.judge import judge
from preheat.judge.log_section import log_section
from preheat.judge.report_html import render, render_log
from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport, Request

SECRETS = ("jane.roe@corp.example", "sk-proj-Ab12Cd34Ef56Gh78Ij90", "13800138000")


def profile(start_s: float = 0.0, bucket_s: float = 300.0) -> Profile:
    body = f"Write to {SECRETS[0]} with key {SECRETS[1]} or call {SECRETS[2]}; answer from the passages below. " * 2
    texts = [
        f"{body}{n % 30} {'Wexford' if n == 7 else 'everybody'} asks about topic {n}, {n * 7919}" for n in range(90)
    ]
    made = [
        Request(id=str(n), prompt=text, time_s=start_s + 3600.0 * (n % 48), tenant=f"t{n % 3}")
        for n, text in enumerate(texts)
    ]
    return mine(made, renderer_for(Rendering()), MineSettings(block_chars=8, bucket_s=bucket_s))


def test_no_secret_reaches_the_evidence_or_the_page() -> None:
    found = insight(profile())
    assert found.topology is not None
    assert found.topology.hubs
    assert found.clusters
    shown = msgspec.json.encode(found).decode() + render_log(found, "t", "now")
    for secret in (*SECRETS, "Ab12Cd34", "jane", "roe", "Ij90"):
        assert not re.search(rf"\b{re.escape(secret)}\b", shown), secret
    assert b"Wexford" not in msgspec.json.encode(found.topology)
    assert "[email]" in shown
    assert "passages" in shown
    assert all(len(line.excerpt) <= EXCERPT_CHARS for line in found.clusters)
    assert len(found.clusters) <= MOST_CLUSTERS


def test_hours_are_of_the_logs_own_clock() -> None:
    found = insight(profile())
    assert sum(found.hours) == 90
    expected = [sum(1 for n in range(90) if n % 48 % 24 == hour) for hour in range(24)]
    assert found.hours == expected
    assert not found.epoch
    later = insight(profile(start_s=1_750_032_000.0))
    assert later.epoch
    assert later.hours == expected  # that instant is a midnight UTC
    assert insight(profile(bucket_s=3600.0)).hours == expected
    assert insight(profile(bucket_s=7200.0)).hours == []


def test_a_log_without_times_has_no_hours() -> None:
    made = [Request(id=str(n), prompt=f"{n} without a time at all") for n in range(5)]
    found = insight(mine(made, renderer_for(Rendering()), MineSettings(block_chars=8)))
    assert found.hours == []
    assert log_section(found).hours is None


def test_the_section_says_what_the_insight_says() -> None:
    found = made_up()
    section = log_section(found)
    assert [row.name for row in section.classes] == ["multi-hop", "json-schema"]
    assert [row.share for row in section.classes] == pytest.approx([0.75, 0.25])
    assert section.picture is not None
    assert section.hours is not None
    page = render_log(found, "A <log>", "now")
    assert "A &lt;log&gt;" in page
    assert "Answer &lt;from&gt; the passages" in page
    assert 'data-name="class.multi-hop.in_degree" data-value="4.2"' in page
    for hour, count in enumerate(found.hours):
        assert f'data-name="hour.{hour}" data-value="{float(count)!r}"' in page
    assert "http://" not in page.replace("http-equiv", "")


def test_evidence_carries_it_and_the_report_has_the_section_only_then() -> None:
    found = profile()
    told = judge(cold=None, warm=None, profile=found, title="t")
    assert told.insight == insight(found)
    assert "What the log holds" in render(told)
    assert "What the log holds" not in render(judge(cold=None, warm=None, title="t"))


SYSTEM = " ".join(f"Rule {number} of the house must be kept by everyone in it." for number in range(40))


def broken() -> Profile:
    """Each prompt greets another address, which hides a long system prompt; all hold a secret beside it."""
    made = [
        Request(
            id=str(n),
            prompt=f"You serve person{n}@example.org, password: xK9fQ2mZ7pLwR4. {SYSTEM} Question {n}",
            time_s=1_750_032_000.0 + n,
            tenant=f"t{n % 5}",
        )
        for n in range(60)
    ]
    report = ReadReport()
    report.skip("log.jsonl:7", "not JSON")
    return mine(made, renderer_for(Rendering()), MineSettings(), report)


def test_breaks_are_told_as_the_profile_has_them() -> None:
    found = broken()
    told = insight(found)
    assert told.breaks
    assert told.break_count == len(found.breaks)
    for line, each in zip(told.breaks, found.breaks, strict=False):
        assert (line.cause, line.requests, line.lost_blocks) == (each.cause, each.requests, each.lost_blocks)
        assert line.lost_share == pytest.approx(each.lost_blocks / found.distinct_blocks)
        assert line.tenant_count == 5
        assert len(line.tenants) == 3
    page = render_log(told, "t", "now")
    assert "Where prefixes break" in page
    assert f"of {found.distinct_blocks:,} distinct blocks".replace(",", " ") in page
    assert 'data-name="break.1.lost"' in page
    assert "[email]" in page
    shown = page + msgspec.json.encode(told).decode()
    assert not [secret for secret in ("xK9", "pLwR", "person1", "person8") if secret in shown]


def test_the_page_says_what_the_figures_are_of() -> None:
    found = broken()
    facts = log_section(insight(found)).facts
    assert facts["Time"] == "2025-06-16T00:00:00Z to 2025-06-16T00:00:59Z"
    assert (facts["Requests"], facts["Tenants"], facts["Skipped"]) == ("60", "5", "1 not JSON")
    seen = 100 * (1 - found.distinct_blocks / found.blocks)
    assert facts["Seen before"].startswith(f"{seen:.1f} % of {found.blocks:,} blocks".replace(",", " "))
    page = render_log(insight(found), "t", "now")
    assert all(value in page for value in facts.values())


def test_without_text_breaks_are_not_told_and_without_any_none_are() -> None:
    made = [Request(id=str(n), prompt=f"{n} is a prompt without anything in common, {n * 7919}") for n in range(5)]
    bare = insight(mine(made, renderer_for(Rendering()), MineSettings(block_chars=8, keep_text=False)))
    assert bare.breaks is None
    assert "keeps no text" in log_section(bare).breaks_note
    assert log_section(bare).facts["Time"] == "the log has no times"
    plain = insight(mine(made, renderer_for(Rendering()), MineSettings(block_chars=8)))
    assert plain.breaks == []
    assert "No prefix breaks" in log_section(plain).breaks_note


def test_a_made_up_break_is_written_out() -> None:
    page = render_log(made_up(), "t", "now")
    assert "“It is now” [Monday | (nothing)] “Answer &amp; be brief”" in page
    assert "acme &lt;a&gt; (4000), b (900), c (60) and 2 more" in page
    assert "The costliest 1 of 4 places" in page
    assert "75.0 % of 8 000 000 blocks" in page
    assert "3 not JSON; 1 no prompt" in page
    assert "2025-06-16T00:00:00Z to 2025-06-19T00:00:00Z" in page
