"""What is said of a file that is no log: in one short line, with what would help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from preheat.errors import BadInput
from preheat.read.reader import read_requests
from preheat.records.request import ReadReport

LATIN = json.dumps({"messages": [{"role": "user", "content": "d\u00e9j\u00e0 vu"}]}, ensure_ascii=False).encode(
    "latin-1"
)


@pytest.mark.parametrize(
    ("content", "says", "helps"),
    [
        (b"once upon a time\nthere was a log\n", "of no known format", "docs/formats.md"),
        (b'{"a": 1}\n{"b": 2}\n', "of no known format", "--format"),
        (b'{"schema":"preheat.profile","version":3,"nodes":[]}', "preheat.profile", "give the log"),
        (b'{\n  "schema": "preheat.plan",\n  "items": []\n}', "preheat.plan", "give the log"),
        (LATIN, "not UTF-8", "iconv"),
        (b'{"prompt": "x"\n'.join([LATIN, LATIN]), "UTF-8", "iconv"),
    ],
)
def test_one_short_line(tmp_path: Path, content: bytes, says: str, helps: str) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(BadInput) as caught:
        list(read_requests([str(tmp_path / "log")], report=ReadReport()))
    message = str(caught.value).replace(str(tmp_path), "")
    assert says in message
    assert helps in message
    assert len(message) < 240
    assert "\n" not in message
