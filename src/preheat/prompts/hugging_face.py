"""A chat template from what ships with a model: a Hugging Face folder, its configuration, or a ``.jinja`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from preheat.errors import BadInput
from preheat.records.rendering import Rendering

_CONFIGS = ("tokenizer_config.json", "chat_template.json")
_JINJA = "chat_template.jinja"
_REMEDY = "name a tokenizer folder, its tokenizer_config.json, or a .jinja file"


def load_rendering(path: str | Path, template_name: str = "default") -> Rendering:
    """The rendering that ``path`` describes.

    ``path`` is a folder with ``tokenizer_config.json`` (or ``chat_template.jinja`` beside it, which wins, as in
    ``transformers``), such a JSON file, or a Jinja file. ``template_name`` picks among named templates. Raises
    :class:`BadInput` when there is no template.
    """
    place = Path(path)
    if place.is_dir():
        return _from_folder(place, template_name)
    if place.suffix in (".jinja", ".jinja2", ".j2"):
        return Rendering(name=place.stem, source=str(place), template=_text(place))
    return _from_config(place, _config(place), template_name)


def _from_folder(folder: Path, template_name: str) -> Rendering:
    configs = [folder / name for name in _CONFIGS if (folder / name).is_file()]
    tokens = _config(configs[0]) if configs else {}
    named = folder / "additional_chat_templates" / f"{template_name}.jinja"
    for jinja in (named, folder / _JINJA):
        if jinja.is_file():
            return _rendering(folder.resolve().name, jinja, _text(jinja), tokens)
    for config in configs:
        content = _config(config)
        if content.get("chat_template") is not None:
            return _from_config(config, {**tokens, **content}, template_name)
    raise BadInput(f"there is no chat template in {folder}", _REMEDY)


def _from_config(file: Path, config: dict[str, Any], template_name: str) -> Rendering:
    template = config.get("chat_template")
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get(template_name)
        if template is None:
            raise BadInput(f"{file} has no chat template {template_name!r}", f"it has {', '.join(map(str, named))}")
    if not isinstance(template, str):
        raise BadInput(f"{file} has no chat_template", _REMEDY)
    return _rendering(file.resolve().parent.name, file, template, config)


def _rendering(name: str, file: Path, template: str, config: dict[str, Any]) -> Rendering:
    return Rendering(
        name=name,
        source=str(file),
        template=template,
        bos_token=_token(config.get("bos_token")),
        eos_token=_token(config.get("eos_token")),
    )


def _token(value: Any) -> str:
    """A special token is text, or an object that holds it under ``content``, or absent."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def _config(file: Path) -> dict[str, Any]:
    try:
        config = msgspec.json.decode(_text(file))
    except msgspec.DecodeError as error:
        raise BadInput(f"{file} is not JSON: {error}", _REMEDY) from error
    if not isinstance(config, dict):
        raise BadInput(f"{file} does not hold a JSON object", _REMEDY)
    return config


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}", _REMEDY) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text", _REMEDY) from error
