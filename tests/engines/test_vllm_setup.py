"""The set-up of the real vLLM: done once, redone when half made, clear when it fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contracts.engine_fixtures import _no_engine
from engines import vllm_setup


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "preheat" / f"vllm-{vllm_setup.VLLM}"


def test_what_is_complete_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir(parents=True)
    (root / "complete").write_text(vllm_setup.REVISION)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing is to be run"))
    assert vllm_setup.set_up(lambda _: None) == root


def test_a_half_made_environment_is_made_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "venv" / "bin").mkdir(parents=True)
    (root / "venv" / "bin" / "python").write_text("#!/bin/false\n")
    (root / "tiny").mkdir()
    steps: list[str] = []

    def step(_: object, name: str, command: list[str], environment: object = None) -> None:
        steps.append(name)
        if name == "vLLM":
            raise vllm_setup.SetUpFailed("vLLM: no space left on device")

    monkeypatch.setattr(vllm_setup, "_step", step)
    monkeypatch.setattr(vllm_setup, "_refuse_cuda", lambda _: None)
    with pytest.raises(vllm_setup.SetUpFailed, match="no space left"):
        vllm_setup.set_up(lambda _: None)
    assert steps == ["virtual environment", "torch for the CPU", "what vLLM needs", "vLLM"]
    assert not (root / "venv").exists()
    assert not (root / "complete").exists()


def test_a_step_that_fails_says_which_and_why() -> None:
    said: list[str] = []
    with pytest.raises(vllm_setup.SetUpFailed, match=r"nothing much: .*no such thing"):
        vllm_setup._step(said.append, "nothing much", ["sh", "-c", "echo no such thing >&2; exit 3"])
    vllm_setup._step(said.append, "nothing at all", ["true"])
    assert said == ["vLLM set-up: nothing at all: 0 s"]


def test_the_lock_names_no_cuda_build() -> None:
    names = {line.split("==")[0].lower() for line in vllm_setup.LOCK.read_text().split()}
    assert "transformers" in names
    assert not any(name.startswith(("nvidia", "cuda", "torch")) for name in names)


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("PREHEAT_REQUIRE_ENGINES", "1")])
def test_where_engines_are_required_their_absence_fails(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("CI", "PREHEAT_REQUIRE_ENGINES"):
        monkeypatch.delenv(other, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no vLLM"):
        _no_engine("no vLLM")
    monkeypatch.setenv(name, value)
    with pytest.raises(pytest.fail.Exception, match="no vLLM"):
        _no_engine("no vLLM")
