"""``preheat read --rendered`` with a tokenizer: from a model's files, and asked of an engine."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.command import preheat
from contracts.engine_fixtures import running
from preheat.blocks.hashes import Apart, block_hashes
from preheat.prompts.tokenizer import load_tokenizer
from preheat.sandbox.server import SandboxServer, serve
from preheat.sandbox.settings import SandboxSettings
from prompts.tiny_model import write_model

TOOLS = [{"type": "function", "function": {"name": "search", "description": "Searches.", "parameters": {}}}]
CHAT = [
    {"role": "system", "content": "You answer the question. " * 8},
    {"role": "user", "content": "Capital of France?"},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"), add_bos_token=True)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxServer]:
    with running(serve(SandboxSettings(prefill_ms_per_token=0.01, token_interval_ms=0.5))) as server:
        yield server


def _log(folder: Path, *records: dict[str, Any]) -> Path:
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps({"request_id": str(n), **record}) + "\n" for n, record in enumerate(records)))
    return log


def _lines(*arguments: object) -> list[dict[str, Any]]:
    ran = preheat("read", *arguments, "--rendered", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_tokens_and_blocks_are_those_of_the_models_files(tmp_path: Path, model: Path) -> None:
    log = _log(tmp_path, {"messages": CHAT, "tools": TOOLS}, {"prompt": "The capital of Spain is"})
    chat, completion = _lines(log, "--model", model, "--block-size", 16, "--hash-seed", "0")
    tokenizer = load_tokenizer(model)
    assert "search" in chat["rendered"].split("You answer")[0]
    assert chat["rendered"].endswith("<|im_start|>assistant\n")
    ids = tokenizer.encode(chat["rendered"])
    assert chat["tokens"] == len(ids) > 32
    assert chat["block_hashes"] == [name.hex() for name in block_hashes(ids, 16, seed="0")]
    assert completion["tokens"] == 1 + len(tokenizer.encode("The capital of Spain is"))


def test_adapters_and_salts_are_in_the_names_and_what_is_not_known_is_said(tmp_path: Path, model: Path) -> None:
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}]
    salted = {"messages": CHAT, "cache_salt": "tenant-1"}
    log = _log(tmp_path, {"messages": CHAT, "adapter": "legal"}, {"messages": image}, salted)
    legal, seen, apart_too = _lines(log, "--model", model, "--block-size", 16, "--lora", "legal=/adapters/legal")
    ids = load_tokenizer(model).encode(legal["rendered"])
    apart = Apart(adapter=("legal", "/adapters/legal"))
    assert legal["block_hashes"] == [name.hex() for name in block_hashes(ids, 16, apart=apart)]
    salt = Apart(cache_salt="tenant-1")
    assert apart_too["block_hashes"] == [name.hex() for name in block_hashes(ids, 16, apart=salt)]
    without, *_ = _lines(log, "--model", model, "--block-size", 16)
    assert without["block_hashes"] is None
    assert "--lora" in without["why"]
    assert seen["block_hashes"] is None
    assert "more than text" in seen["why"]


def test_an_engine_is_asked_for_its_template_and_its_tokens(tmp_path: Path, sandbox: SandboxServer) -> None:
    log = _log(tmp_path, *[{"messages": CHAT, "tools": TOOLS}] * 70, {"prompt": "The capital of Spain is"})
    lines = _lines(log, "--engine", sandbox.url, "--block-size", 16)
    default = _lines(log)
    assert len(lines) == 71
    for line, other in zip(lines, default, strict=True):
        assert line["rendered"].split("You answer")[1:] == other["rendered"].split("You answer")[1:]
        assert line["tokens"] == math.ceil(len(line["rendered"]) / 4)
        assert len(line["block_hashes"]) == line["tokens"] // 16


def test_a_tokenizer_without_a_template_says_how_chats_are_rendered(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "base", template=None)
    ran = preheat("read", _log(tmp_path, {"messages": CHAT}), "--rendered", "--json", "--model", folder)
    assert ran.returncode == 0
    assert "no chat template" in ran.stderr
    assert json.loads(ran.stdout)["tokens"] > 10


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rendered", "--model", "x", "--engine", "http://127.0.0.1:1"], "give one of them"),
        (["--block-size", "16", "--model", "x"], "--rendered"),
        (["--block-size", "16", "--rendered"], "tokenizer"),
        (["--rendered", "--model", "{model}", "--lora", "legal"], "NAME=PATH"),
        (["--rendered", "--model", "{model}/absent.json"], "cannot read"),
        (
            ["--rendered", "--model", "{model}", "--block-size", "16", "--hash-algorithm", "xxhash_cbor"],
            "PYTHONHASHSEED",
        ),
    ],
)
def test_bad_flags_are_one_line(tmp_path: Path, model: Path, arguments: list[str], says: str) -> None:
    given = [argument.replace("{model}", str(model)) for argument in arguments]
    ran = preheat("read", _log(tmp_path, {"messages": CHAT}), "--json", *given)
    assert ran.returncode == 2
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr


def test_rendered_prompts_need_a_place_to_go(tmp_path: Path) -> None:
    ran = preheat("read", _log(tmp_path, {"messages": CHAT}), "--rendered")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert "'--json'" in ran.stderr
