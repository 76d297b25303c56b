"""The template in a GGUF file's metadata."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.errors import BadInput
from preheat.prompts.gguf import gguf_rendering
from preheat.prompts.hugging_face import find_model, load_rendering


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _gguf(*entries: tuple[str, int, bytes], version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(entries))
    return head + b"".join(_text(key) + struct.pack("<I", kind) + value for key, kind, value in entries)


ENTRIES = [
    ("general.name", 8, _text("tiny")),
    ("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 3) + bytes(12)),
    ("tokenizer.ggml.merges", 9, struct.pack("<IQ", 8, 2) + _text("a b") + _text("b c")),
    ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 3) + _text("<s>") + _text("</s>") + _text("a")),
    ("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", 0)),
    ("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 1)),
    ("tokenizer.ggml.add_bos_token", 7, b"\x01"),
    ("tokenizer.chat_template", 8, _text("{{ bos_token }}{{ messages[0].content }}")),
]


def test_the_template_and_its_tokens(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(_gguf(*ENTRIES) + b"weights")
    found = load_rendering(tmp_path / "tiny.gguf")
    assert (found.name, found.template) == ("tiny", "{{ bos_token }}{{ messages[0].content }}")
    assert (found.bos_token, found.eos_token) == ("<s>", "</s>")
    assert find_model(tmp_path / "tiny.gguf") == (found, None)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (_gguf(*ENTRIES[:-1]), "carries no chat template"),
        (_gguf(*ENTRIES)[:-9], "damaged"),
        (_gguf(*ENTRIES, version=1), "damaged"),
        (_gguf(("a", 99, b"")), "damaged"),
        (_gguf(("a", 9, struct.pack("<IQ", 8, 2**62))), "damaged"),
        (_gguf(("a", 9, struct.pack("<IQ", 10, 2**62))), "damaged"),
        (_gguf(("a", 8, struct.pack("<Q", 2**40))), "damaged"),
        (b"GGUF", "damaged"),
    ],
)
def test_other_files_are_bad_input(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    with pytest.raises(BadInput, match=says) as caught:
        load_rendering(tmp_path / "m.gguf")
    assert "--engine URL" in caught.value.remedy


@given(st.integers(0, 10**6), st.binary(max_size=9))
@settings(max_examples=200)
def test_a_damaged_file_never_ends_in_a_trace(tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes) -> None:
    whole = _gguf(*ENTRIES)
    at %= len(whole)
    file = tmp_path_factory.getbasetemp() / "damaged.gguf"
    file.write_bytes(whole[:at] + junk + whole[at + len(junk) :])
    try:
        assert isinstance(gguf_rendering(file).template, str)
    except BadInput:
        pass
