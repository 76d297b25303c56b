"""A chat template from the files that ship with a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.errors import BadInput
from preheat.prompts.hugging_face import find_model, load_rendering
from preheat.prompts.render import renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request


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
    named = [{"name": "default", "template": "D"}, {"name": "rag", "template": "R"}]
    file = _config(tmp_path, chat_template=named)
    assert load_rendering(file).template == "D"
    assert load_rendering(file, "rag").template == "R"
    with pytest.raises(BadInput, match="has no chat template 'code'") as caught:
        load_rendering(file, "code")
    assert "default, rag" in caught.value.remedy


def test_a_template_for_tools_is_used_where_there_are_tools(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "\n  D \n"}, {"name": "tool_use", "template": "\n  T \n"}]
    renderer = renderer_for(load_rendering(_config(tmp_path, chat_template=named)))
    messages = (Message(role="user", content="U"),)
    assert renderer.render(Request(id="1", messages=messages)) == "\n  D \n"
    assert renderer.render(Request(id="1", messages=messages, tools=[{"name": "f"}])) == "\n  T \n"


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


def test_a_model_is_found_by_any_of_its_files(tmp_path: Path) -> None:
    config = _config(tmp_path, chat_template="T")
    tokenizer = _config(tmp_path, "tokenizer.json", model={"type": "BPE"})
    (tmp_path / "other.jinja").write_text("O")
    for path in (tmp_path, config, tokenizer):
        assert find_model(path) == (load_rendering(config), tokenizer)
    assert find_model(tmp_path / "other.jinja") == (load_rendering(tmp_path / "other.jinja"), None)


def test_a_tokenizer_alone_has_no_template_and_a_template_alone_no_tokenizer(tmp_path: Path) -> None:
    tokenizer = _config(tmp_path / "a", "tokenizer.json", model={"type": "BPE"})
    assert find_model(tokenizer) == find_model(tmp_path / "a") == (None, tokenizer)
    config = _config(tmp_path / "b", chat_template="T")
    assert find_model(tmp_path / "b") == (load_rendering(config), None)
    renamed = _config(tmp_path / "c", "my.json", model={"type": "BPE"})
    assert find_model(renamed) == (None, renamed)


def test_a_folder_with_neither_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no chat template and no tokenizer\.json"):
        find_model(tmp_path)
    with pytest.raises(BadInput, match="cannot read"):
        find_model(tmp_path / "absent.json")
