"""Images and sound in prompts: hashed, not kept."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from preheat.prompts.chatml import content_text
from preheat.read.content import without_media
from preheat.read.reader import read_requests
from preheat.records.request import ReadReport

DATA = base64.b64encode(bytes(range(256))).decode()
OTHER = base64.b64encode(bytes(reversed(range(256)))).decode()


def _parts(data: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("image", {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", "detail": "low"}}),
        ("image", {"type": "input_image", "image_url": f"data:image/png;base64,{data}"}),
        ("image", {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": data}}),
        ("image", {"type": "blob", "modality": "image", "mime_type": "image/png", "content": data}),
        ("image", {"inline_data": {"mime_type": "image/png", "data": data}}),
        ("image", {"type": "image", "image": data, "mediaType": "image/png"}),
        ("audio", {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}),
        ("file", {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{data}"}}),
    ]


@pytest.mark.parametrize("number", range(8))
def test_a_part_becomes_its_hash(number: int) -> None:
    kind, part = _parts(DATA)[number]
    before = {"type": "text", "text": "Look:"}
    first, marked = without_media([before, part])
    assert first is before
    assert marked["type"] == "text"
    assert marked["text"].startswith(f"[{kind} sha256:")
    assert DATA[:20] not in str(marked)
    assert without_media([part]) == [marked]
    assert without_media([_parts(OTHER)[number][1]]) != [marked]
    assert content_text([marked]) == marked["text"]


def test_the_same_picture_is_the_same_in_every_form() -> None:
    images = [part for kind, part in _parts(DATA) if kind == "image"]
    assert len({part["text"] for part in without_media(images)}) == 1


def test_a_picture_within_text() -> None:
    text = f"See ![x](data:image/png;base64,{DATA}) there"
    marked = without_media(text)
    assert marked.startswith("See ![x]([image sha256:")
    assert marked.endswith("]) there")
    assert without_media([{"type": "text", "text": text}]) == [{"type": "text", "text": marked}]


@pytest.mark.parametrize(
    "content",
    [
        None,
        "plain, not ;base64",
        [{"type": "text", "text": "x" * 1000}],
        [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
        [{"type": "file", "file": {"file_id": "f"}}, 7, "text"],
    ],
)
def test_what_holds_no_data_stays(content: Any) -> None:
    assert without_media(content) == content


def test_a_long_line_with_a_picture_in_plain_text(tmp_path: Path) -> None:
    text = f"See ![x](data:image/png;base64,{DATA * 60})"
    (tmp_path / "log").write_text(json.dumps({"messages": [{"role": "user", "content": text}]}))
    (request,) = read_requests([str(tmp_path / "log")], report=ReadReport())
    assert request.messages[0].content == without_media(text) != text
