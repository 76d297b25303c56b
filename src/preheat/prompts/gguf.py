"""The chat template inside a GGUF file: its metadata stand before the weights, so little of it is read.

The layout is that of the GGUF specification (ggml, ``docs/gguf.md``), versions 2 and 3, little endian.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from preheat.errors import BadInput
from preheat.records.rendering import Rendering

MAGIC = b"GGUF"
_REMEDY = "give a model's folder or tokenizer.json, or ask the engine that serves it: --engine URL"
_NUMBERS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_LONGEST_TEXT_BYTES = 1 << 24
_MOST_ENTRIES = 1 << 24
_TEMPLATE, _TOKENS = "tokenizer.chat_template", "tokenizer.ggml.tokens"


def is_gguf(path: Path) -> bool:
    """Whether the file begins as GGUF does."""
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def gguf_rendering(path: Path) -> Rendering:
    """The template that the file carries, with its special tokens.

    Its vocabulary is not turned into a tokenizer: how llama.cpp splits text before it looks tokens up is in
    llama.cpp, not in the file. Raises :class:`BadInput` for a damaged file and for one without a template.
    """
    try:
        with path.open("rb") as file:
            said = _metadata(file)
    except (OSError, struct.error, ValueError, KeyError, OverflowError) as error:
        raise BadInput(f"{path} is a damaged GGUF file, or of a version not known here", _REMEDY) from error
    template = said.get(_TEMPLATE)
    if not isinstance(template, str):
        raise BadInput(f"{path} carries no chat template", _REMEDY)
    tokens = said.get(_TOKENS, [])

    def token(name: str) -> str:
        number = said.get(f"tokenizer.ggml.{name}_token_id")
        return tokens[number] if isinstance(number, int) and 0 <= number < len(tokens) else ""

    return Rendering(
        name=path.stem, source=str(path), template=template, bos_token=token("bos"), eos_token=token("eos")
    )


def _metadata(file: BinaryIO) -> dict[str, Any]:
    """All scalars, and the vocabulary; the other arrays are passed over."""
    magic, version, _tensors, entries = struct.unpack("<4sIQQ", file.read(24))
    if magic != MAGIC or version not in (2, 3) or entries > _MOST_ENTRIES:
        raise ValueError(version)
    said: dict[str, Any] = {}
    for _ in range(entries):
        key = _text(file)
        said[key] = _value(file, _number(file, "<I"), keep=key == _TOKENS)
    return said


def _value(file: BinaryIO, kind: int, *, keep: bool) -> Any:
    if kind == _STRING:
        return _text(file)
    if kind != _ARRAY:
        return _number(file, _NUMBERS[kind])
    of, count = _number(file, "<I"), _number(file, "<Q")
    if of in _NUMBERS:
        file.seek(count * struct.calcsize(_NUMBERS[of]), 1)
        return None
    if of != _STRING or count > _MOST_ENTRIES:
        raise ValueError(of)
    if keep:
        return [_text(file) for _ in range(count)]
    for _ in range(count):
        file.seek(_number(file, "<Q"), 1)
    return None


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO) -> str:
    size = _number(file, "<Q")
    if size > _LONGEST_TEXT_BYTES:
        raise ValueError(size)
    data = file.read(size)
    if len(data) < size:
        raise ValueError(size)
    return data.decode(errors="replace")
