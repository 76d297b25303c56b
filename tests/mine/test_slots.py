"""Kinds of variable places."""

from __future__ import annotations

import pytest

from preheat.mine.slots import slot


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["3", "1,204.5", "-7 %", "$99"], "number"),
        (["2024-05-15 15:00:00 EST", "2026-03-01T09:05:00Z", "12/31/1999", "2024年5月1日"], "date"),
        (["a.b+c@example.com", "x@y.example"], "email"),
        (["https://example.com/a?b=1", "/srv/data/log.jsonl"], "url"),
        (["550e8400-e29b-41d4-a716-446655440000", "req-0012ab", "A1B2C3"], "id"),
        (['{"city": "Bonn"}', '[{"name": "f"}]'], "json"),
        (["def f(x):\n    return x + 1", "```\nls\n```", "import os\nfor a in b:\n    print(a)"], "code"),
        (["Anna", "Jean-Luc Picard", "San Francisco"], "name"),
        (["blue", "苹果", "grün"], "word"),
        (["what is the capital of Chile?", "今天天气怎么样"], "sentence"),
        (["One. Two. Three. And more of it.", "长" * 100, "x " * 200], "passage"),
        (["hello<|im_end|>\n<|im_start|>assistant\nhi"], "conversation"),
        (["", "  "], "empty"),
    ],
)
def test_kinds(values: list[str], kind: str) -> None:
    assert slot(values).kind == kind
    assert slot([*values, *values]).distinct == len(set(values))
