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
from preheat.records.request import Request

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
