"""A chat template from the files that ship with a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.errors import BadInput
from preheat.prompts.hugging_face import load_rendering
from preheat.records.rendering import Rendering


def _config(folder: Path, name: str = "tokenizer_config.json", **fields: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(fields))
    return folder / name


def test_template_and_tokens_from_a_configuration(tmp_path: Path) -> None:
    file = _config(tmp_path / "m", chat_template="T", bos_token={"content": "<s>", "lstrip": False}, eos_token="</s>")
    expected = Rendering(name="m", source=str(file), template="T", bos_token="<s>", eos_token="</s>")
    assert load_rendering(file) == expected
    assert load_rendering(file.parent) == expected


def test_a_jinja_file_beside_the_configuration_wins(tmp_path: Path) -> None:
    _config(tmp_path, chat_template="OLD", bos_token="<s>", eos_token=None)
    (tmp_path / "chat_template.jinja").write_text("NEW")
    rendering = load_rendering(tmp_path)
    assert (rendering.template, rendering.bos_token, rendering.eos_token) == ("NEW", "<s>", "")


def test_a_template_of_its_own_file_keeps_the_tokenizers_tokens(tmp_path: Path) -> None:
    _config(tmp_path, bos_token="<s>")
    _config(tmp_path, "chat_template.json", chat_template="T")
    assert load_rendering(tmp_path).template == "T"
    assert load_rendering(tmp_path).bos_token == "<s>"


def test_named_templates(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]
    file = _config(tmp_path, chat_template=named)
    assert load_rendering(file).template == "D"
    assert load_rendering(file, "tool_use").template == "T"
    with pytest.raises(BadInput, match="has no chat template 'rag'") as caught:
        load_rendering(file, "rag")
    assert "default, tool_use" in caught.value.remedy


def test_a_jinja_file_alone(tmp_path: Path) -> None:
    (tmp_path / "llama.jinja").write_text("é")
    rendering = load_rendering(tmp_path / "llama.jinja")
    assert (rendering.name, rendering.template) == ("llama", "é")


@pytest.mark.parametrize(
    ("content", "says"),
    [("{}", "has no chat_template"), ("[]", "JSON object"), ("{", "is not JSON"), (None, "cannot read")],
)
def test_what_has_no_template_is_named(tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "tokenizer_config.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadInput, match=r"tokenizer_config\.json") as caught:
        load_rendering(file)
    assert says in caught.value.message


def test_a_folder_without_a_template_is_named(tmp_path: Path) -> None:
    _config(tmp_path, bos_token="<s>")
    with pytest.raises(BadInput, match="there is no chat template in"):
        load_rendering(tmp_path)
