"""The generated pages of docs/: current, the same everywhere, and schemas that fit what the stages write."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import msgspec
import pytest

from preheat.mine.miner import mine
from preheat.plan.planner import make_plan
from preheat.plan.settings import PlanSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.evidence import Evidence
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs" / "generate.py"
DEMO_LOG = ROOT / "examples" / "data" / "demo_log.jsonl.xz"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_current() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_terminal_does_not_matter(generate: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    before = generate.pages()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("PREHEAT_UP_WINDOW", "17s")
    assert generate.pages() == before


def test_drift_is_named_and_nothing_is_written(
    generate: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    docs = tmp_path / "docs"
    monkeypatch.setattr(generate, "DOCS", docs)
    docs.mkdir()
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    assert generate.main() == 0
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 0
    (docs / "cli.md").write_text("old")
    (docs / "settings.md").unlink()
    (docs / "schemas" / "gone.json").write_text("{}")
    assert generate.main() == 1
    told = capsys.readouterr().err
    assert "docs/cli.md is not what the code says now" in told
    assert "docs/settings.md is missing" in told
    assert "docs/schemas/gone.json is not generated any more" in told
    assert (docs / "cli.md").read_text() == "old"


def test_every_command_has_its_help(generate: ModuleType) -> None:
    page = generate.cli_page()
    for command in ("up", "read", "mine", "plan make", "plan show", "warm", "replay", "judge", "sandbox serve"):
        assert f"\n## preheat {command}\n" in page


def test_every_field_of_settings_is_documented(generate: ModuleType) -> None:
    undocumented = [line for line in generate.settings_page().splitlines() if line.endswith("|  |")]
    assert not undocumented


async def test_schemas_fit_what_is_written(generate: ModuleType) -> None:
    report = ReadReport()
    requests = list(read_requests([str(DEMO_LOG)], report=report))[:600]
    profile = mine(requests, renderer_for(Rendering()))
    plan = await make_plan(profile, PlanSettings(window_s=3600.0), profile_hash="0" * 64)
    assert plan.items
    evidence = Evidence(created="2026-01-05T09:00:00+00:00", title="one", series={"ttft": [[0.0, 1.5]]})
    written: dict[str, list[Any]] = {
        "profile": [profile],
        "plan": [plan],
        "evidence": [evidence],
        "read-report": [report],
        "request": requests[:20],
        "plan-item": plan.items[:20],
    }
    for name, records in written.items():
        schema = json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for record in records:
            validator.validate(json.loads(msgspec.json.encode(record)))
        with pytest.raises(jsonschema.ValidationError):
            validator.validate([])
