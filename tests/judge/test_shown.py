"""What came from elsewhere reaches neither terminal nor page as anything but text."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_runs import ENGINE, plan, replay, request, traffic, warm_run
from rich.console import Console

from preheat.judge.judge import judge
from preheat.judge.report_html import render
from preheat.judge.report_terminal import print_report
from preheat.judge.shown import address, excerpt, plain
from preheat.records.outcomes import Outcome

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "measured on http://127.0.0.1:37229; KV bytes per token assumed",
            "measured on http://127.0.0.1:37229; KV bytes per token assumed",
        ),
        ("(see https://u:p@host:8080/x?key=1).", "(see https://host:8080/x)."),
        ("'http://[::1]:80', http://a:b", "'http://[::1]:80', (unreadable URL)"),
    ],
)
def test_marks_after_a_url_are_not_part_of_it(text: str, shown: str) -> None:
    assert excerpt(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("a\x00b\x08c\x7fd\x85e", "abcd e"),
        ("\u202etxt.exe", "txt.exe"),
        ("two\r\nlines\tof", "two lines of"),
    ],
)
def test_control_characters_are_gone(text: str, shown: str) -> None:
    assert excerpt(text) == shown


@given(st.text(st.characters(max_codepoint=0x2070)))
def test_nothing_that_controls_is_left(text: str) -> None:
    assert CONTROLS.sub("", excerpt(text)) == excerpt(text)
    assert "\x1b" not in plain(text)
    assert CONTROLS.sub("", address(text)) == address(text)


def test_a_hostile_engine_and_log_reach_no_report() -> None:
    bad = "\x1b[2J\x9b1m\x00\x07\x1b]0;owned\x07bad\x84"
    engine = msgspec.structs.replace(ENGINE, kind=bad, version=bad, model=bad, url=f"http://h{bad}:1/")
    more = {"engine": engine, "notes": [bad], "log": bad, "started": bad}
    cold = replay([request("a", None, error=bad), *traffic(False).requests], **more)
    items = [msgspec.structs.replace(item, status=Outcome.REJECTED, reason=bad) for item in warm_run().items]
    whole = plan()
    told = judge(
        cold=cold,
        warm=traffic(True),
        warm_run=msgspec.structs.replace(warm_run(), items=items, engine=engine),
        plan=msgspec.structs.replace(
            whole,
            strategy=bad,
            notes=[bad],
            left_out={bad: 1},
            cost=msgspec.structs.replace(whole.cost, source=bad),
            engine=engine,
        ),
        title=f"title {bad}",
    )
    page = io.StringIO()
    print_report(told, Console(file=page))
    evidence = msgspec.json.encode(told).decode()
    for text in (page.getvalue(), render(told)):
        assert not CONTROLS.search(text.replace("\n", ""))
    assert "\\u00" not in evidence
    assert "bad" in evidence
