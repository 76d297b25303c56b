"""A JSON document cut anywhere: what was whole before the cut is found, and nothing is made up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preheat.read.cut_json import completed
from preheat.read.nested import opened

_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-9, 9, width=16) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def _is_beginning(cut: Any, whole: Any) -> bool:
    """Whether ``cut`` is ``whole`` with nothing but its end missing, at every level."""
    if isinstance(whole, dict):
        if not isinstance(cut, dict) or list(cut) != list(whole)[: len(cut)]:
            return False
        pairs = [(cut[name], whole[name]) for name in cut]
    elif isinstance(whole, list):
        if not isinstance(cut, list) or len(cut) > len(whole):
            return False
        pairs = list(zip(cut, whole, strict=False))
    elif isinstance(whole, str):
        return isinstance(cut, str) and whole.startswith(cut)
    else:
        return bool(cut == whole)
    return all(part == other for part, other in pairs[:-1]) and (not pairs or _is_beginning(*pairs[-1]))


@given(st.lists(_values, min_size=1, max_size=4) | st.dictionaries(st.text(max_size=5), _values, min_size=1), st.data())
def test_a_cut_document_gives_the_beginning_of_the_whole_one(whole: Any, data: st.DataObject) -> None:
    text = json.dumps(whole, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 1])))
    found = completed(text[: data.draw(st.integers(1, len(text) - 1))])
    assert _is_beginning(found, whole)


@given(st.text(alphabet='[]{}",:\\ua1 .', max_size=40))
@example("1,")
def test_any_text_gives_a_value_or_a_reason(text: str) -> None:
    try:
        assert isinstance(completed(text), list | dict)
    except ValueError:
        pass


NO_JSON = ["", "1,", '"x",', "[INST] hi", "{system} foo", "[1] See there", "{{name}}, hello", '["x" y', "[" * 500]


@pytest.mark.parametrize("text", NO_JSON)
def test_text_that_is_no_json_is_not_completed(text: str) -> None:
    with pytest.raises(ValueError, match="not the beginning"):
        completed(text)


def test_whole_entries_and_the_text_that_was_cut() -> None:
    text = '[{"role":"system","content":"S"},{"role":"user","content":"He said \\"hi\\" and \\u00e'
    assert completed(text)[1] == {"role": "user", "content": 'He said "hi" and '}
    assert completed(text + "9 \\ud83d")[1]["content"] == 'He said "hi" and é '


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"a": 1}', ({"a": 1}, False)),
        (json.dumps(json.dumps(json.dumps([{"a": "b"}]))), ([{"a": "b"}], False)),
        (json.dumps(json.dumps([{"a": "bcd"}])[:9]), ([{"a": "b"}], True)),
        ('[{"a": "b... [truncated]', ([{"a": "b"}], True)),
        ('"just quoted"', ('"just quoted"', False)),
        ("[INST] hi", ("[INST] hi", False)),
        ("[n", ("[n", False)),
        (None, (None, False)),
        ([1], ([1], False)),
    ],
)
def test_layers_of_json_are_opened(value: Any, expected: Any) -> None:
    assert opened(value) == expected
