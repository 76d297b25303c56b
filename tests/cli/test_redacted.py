"""Whatever a log, a template or a fault says on a terminal is redacted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import preheat
from preheat.cli.show import one_line, print_facts, shown
from preheat.errors import BadInput, EngineFailed

SECRET = "bob@example.org, +49 30 901820123, sk" + "-a1B2c3D4e5F6g7H8i9J0"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [{"request_id": str(n), "messages": [{"role": "user", "content": f"{n} {SECRET}"}]} for n in range(4)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "strict.jinja").write_text(
        "{% if messages[0].content[0] == '0' %}{{ raise_exception('no: ' + messages[0].content) }}{% endif %}"
        "{{ messages[0].content * 40 }}"
    )
    return tmp_path / "log.jsonl"


@pytest.mark.parametrize("progress", ["none", "plain"])
def test_what_a_template_says_of_a_prompt(log: Path, progress: str) -> None:
    model = ("--model", log.with_name("strict.jinja"), "-o", log.with_name("p.json"), "--progress", progress)
    ran = preheat("mine", log, *model)
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout + ran.stderr
    assert "the template refuses it: no: 0 [email], [phone], [key]" in said
    assert "example.org" not in said
    assert "901820123" not in said


def test_faults_and_facts(capsys: pytest.CaptureFixture[str]) -> None:
    for fault in (BadInput(f"cannot use {SECRET}"), EngineFailed(SECRET), ValueError(SECRET)):
        assert one_line(fault).endswith("[email], [phone], [key]")
    print_facts("log", {f"skipped: {SECRET}": SECRET})
    assert capsys.readouterr().out == "log\n  skipped: [email], [phone], [key]  [email], [phone], [key]\n"
    assert shown("a\x1b[31m\nb\tc") == "a b c"


@pytest.mark.parametrize("path", ["/data/2026-11-29T12:00:00/log-20261129-123456.jsonl", "C:\\logs\\0001-0005.gz", "-"])
def test_paths_stay_as_they_must_be_typed(path: str) -> None:
    assert one_line(BadInput(f"cannot read {path}")) == f"cannot read {path}"
