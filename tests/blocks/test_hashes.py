"""Block names: chained, and the same as vLLM's."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import cbor2
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from engines.vllm_setup import set_up
from preheat.blocks.hashes import Apart, Media, block_hashes, event_hash
from preheat.errors import BadInput

IDS = st.lists(st.integers(0, 200_000), max_size=70)


@given(IDS, IDS, st.integers(1, 20))
def test_names_stand_for_whole_prefixes(left: list[int], right: list[int], size: int) -> None:
    for n, (a, b) in enumerate(zip(block_hashes(left, size), block_hashes(right, size), strict=False)):
        assert (a == b) == (left[: (n + 1) * size] == right[: (n + 1) * size])
    assert len(block_hashes(left, size)) == len(left) // size
    assert block_hashes(left + right, size)[: len(left) // size] == block_hashes(left, size)


def test_the_chain_by_hand() -> None:
    root = hashlib.sha256(b"\x61\x30").digest()  # CBOR: a text of one character, "0"
    first = hashlib.sha256(b"\x83\x58\x20" + root + b"\x82\x01\x19\x03\xe8" + b"\xf6").digest()
    assert block_hashes([1, 1000, 7], 2, seed="0") == [first]


def test_what_keeps_prompts_apart_is_in_the_names() -> None:
    ids = list(range(40))
    plain = block_hashes(ids, 16)
    salted = block_hashes(ids, 16, apart=Apart(cache_salt="s"))
    legal = block_hashes(ids, 16, apart=Apart(adapter=("legal", "/a")))
    image = block_hashes(ids, 16, apart=Apart(media=(Media("m", 20, 4),)))
    other = block_hashes(ids, 16, apart=Apart(media=(Media("m", 21, 4),)))
    assert plain[0] not in (salted[0], legal[0])
    assert plain[0] == image[0]
    assert len({plain[1], salted[1], legal[1], image[1], other[1]}) == 5
    assert block_hashes(ids, 16, seed="1") != plain
    assert block_hashes(ids, 16, "xxhash_cbor", seed="1") != block_hashes(ids, 16, seed="1")


@pytest.mark.parametrize(
    ("size", "algorithm", "seed", "says"),
    [(0, "sha256_cbor", "0", "holds nothing"), (1, "sha256", "0", "'sha256'"), (1, "xxhash_cbor", None, "random")],
)
def test_what_cannot_agree_is_refused(size: int, algorithm: str, seed: str | None, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        block_hashes([1, 2], size, algorithm, seed)


def _cases() -> list[dict[str, Any]]:
    """Random prompts of any ids and sizes, with and without adapter, salt and images."""
    chance = random.Random(3)
    cases = []
    for number in range(120):
        ids = [chance.choice((chance.randrange(30), chance.randrange(256_000))) for _ in range(chance.randrange(200))]
        media, at = [], 0
        while chance.random() < 0.5:
            at += chance.randrange(1, 60)
            length = chance.randrange(1, 90)
            media.append((f"image-{at}", at, length))
            at += length
        cases.append(
            {
                "ids": ids,
                "block_size": chance.choice((1, 3, 16, 32, 128)),
                "algorithm": chance.choice(("sha256_cbor", "xxhash_cbor")),
                "seed": chance.choice(("0", "42", "é")),
                "lora": ("legal", "/models/legal é") if chance.random() < 0.3 else None,
                "salt": chance.choice((None, "", "tenant-1")),
                "media": media if number % 2 else [],
            }
        )
        if number % 5 == 0:
            cases[-1] |= {"algorithm": "sha256_cbor", "seed": None}
    return cases


@pytest.mark.heavy
@pytest.mark.vllm
@pytest.mark.timeout(2400)
def test_vllms_own_functions_give_the_same_names(tmp_path: Path) -> None:
    """Without a server: its functions, in its environment (and xxhash of ours, optional there), on the same ids."""
    shutil.copytree(Path(xxhash.__file__).parent, tmp_path / "xxhash")
    root, cases = set_up(), _cases()
    script = Path(__file__).with_name("vllm_hashes.py")
    command = [str(root / "venv" / "bin" / "python"), str(script)]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        command, input=json.dumps(cases), capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stderr[-800:]
    theirs = json.loads(done.stdout.splitlines()[-1])
    assert sum(map(len, theirs)) > 500
    for case, expected in zip(cases, theirs, strict=True):
        apart = Apart(case["lora"], case["salt"], tuple(Media(*one) for one in case["media"]))
        ours = block_hashes(case["ids"], case["block_size"], case["algorithm"], case["seed"], apart)
        shown = [str(event_hash(ours[0]))] if ours else []
        assert [*(name.hex() for name in ours), *shown] == expected, case


def test_canonical_means_the_shortest_numbers() -> None:
    """What the names rest on: RFC 8949, 4.2.1."""
    assert cbor2.dumps([23, 24, 65_536], canonical=True) == b"\x83\x17\x18\x18\x1a\x00\x01\x00\x00"
