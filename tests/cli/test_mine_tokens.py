"""``preheat mine`` with a tokenizer: from a model's files, and asked of an engine."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import preheat, write_log
from contracts.engine_fixtures import running
from preheat.files.versioned import load
from preheat.prompts.tokenizer import load_tokenizer
from preheat.records.profile import Profile
from preheat.sandbox.server import SandboxServer, serve
from preheat.sandbox.settings import SandboxSettings
from prompts.tiny_model import write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "log.jsonl", requests=60)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxServer]:
    with running(serve(SandboxSettings(prefill_ms_per_token=0.01, token_interval_ms=0.5))) as server:
        yield server


def _mined(*arguments: object, into: Path) -> tuple[Profile, str]:
    ran = preheat("mine", *arguments, "-o", into / "profile.json.zst")
    assert ran.returncode == 0, ran.stderr
    return load(into / "profile.json.zst", Profile), ran.stdout + ran.stderr


def test_a_profile_says_its_prefixes_tokens(tmp_path: Path, log: Path, model: Path) -> None:
    profile, said = _mined(log, "--model", model, into=tmp_path)
    tokenizer = load_tokenizer(model)
    shared = [node for node in profile.nodes if node.parent < 0]
    assert len(shared) == 4
    for node in shared:
        assert node.text is not None
        assert node.text.startswith("<|im_start|>system\n")
        assert node.tokens == len(tokenizer.encode(node.text))
    assert profile.tokenizer == str(model / "tokenizer.json")
    assert (
        f"by {model / 'tokenizer.json'}" in said.replace("\n", "").replace("  ", "") or "characters per token" in said
    )


def test_hashes_alone_keep_their_tokens(tmp_path: Path, log: Path, model: Path) -> None:
    with_text, _ = _mined(log, "--model", model, into=tmp_path)
    bare, _ = _mined(log, "--model", model, "--no-text", into=tmp_path)
    assert (bare.has_text, bare.topology) == (False, None)
    assert all(node.text is None and len(node.block_hashes or "") == 12 * node.blocks for node in bare.nodes)
    assert [node.tokens for node in bare.nodes] == [node.tokens for node in with_text.nodes]


def test_an_engine_counts_a_sample_and_renders(tmp_path: Path, log: Path, sandbox: SandboxServer) -> None:
    profile, _ = _mined(log, "--engine", sandbox.url, into=tmp_path)
    assert profile.rendering.source == sandbox.url
    assert profile.chars_per_token == pytest.approx(4.0, rel=0.02)
    assert profile.tokenizer == sandbox.url
    assert all(node.tokens is None for node in profile.nodes)


def test_without_the_package_a_template_still_renders(
    tmp_path: Path, log: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "tokenizers" else real(name, *more)
    )
    profile, said = _mined(log, "--model", model, into=tmp_path)
    assert "preheat[tokenizers]" in said
    assert (profile.chars_per_token, profile.rendering.name) == (None, model.name)


def test_an_earlier_profile_is_added_to_and_counted_anew(tmp_path: Path, log: Path, model: Path) -> None:
    first, _ = _mined(log, "--model", model, into=tmp_path)
    again = preheat("mine", tmp_path / "profile.json.zst", log, "--model", model, "-o", tmp_path / "two.zst", "--json")
    assert again.returncode == 0, again.stderr
    both = load(tmp_path / "two.zst", Profile)
    assert both.requests == 2 * first.requests
    tokens = {node.hash: node.tokens for node in first.nodes if node.tokens is not None}
    assert tokens.items() <= {node.hash: node.tokens for node in both.nodes}.items()
    assert json.loads(again.stdout)["chars_per_token"] > 1
