"""A chat template, and where the tokenizer is, from what ships with a model: a folder, a file of it, or a GGUF file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from preheat.errors import BadInput
from preheat.prompts.gguf import gguf_rendering, is_gguf
from preheat.records.rendering import Rendering

_CONFIGS = ("tokenizer_config.json", "chat_template.json")
_JINJA = "chat_template.jinja"
_JINJA_SUFFIXES = (".jinja", ".jinja2", ".j2")
_TOKENIZER = "tokenizer.json"
_REMEDY = "name a model's folder, its tokenizer_config.json or tokenizer.json, a .jinja file or a GGUF file"


class ModelFiles(NamedTuple):
    """What a model brings for its prompts; ``None`` where it does not."""

    rendering: Rendering | None
    tokenizer: Path | None


def find_model(path: str | Path, template_name: str = "default") -> ModelFiles:
    """The template and the tokenizer's file of the model at ``path``.

    ``path`` is what :func:`load_rendering` takes, or a ``tokenizer.json``, whose template stands beside it. A file
    that names the template alone (``.jinja``) brings no tokenizer, nor does a GGUF file. Raises :class:`BadInput`
    where there is neither.
    """
    place = Path(path)
    if place.suffix in _JINJA_SUFFIXES or (place.is_file() and is_gguf(place)):
        return ModelFiles(load_rendering(place), None)
    folder = place if place.is_dir() else place.parent
    tokenizer = folder / _TOKENIZER if (folder / _TOKENIZER).is_file() else None
    if not place.is_dir():
        config = read_config(place)
        if "chat_template" in config:
            return ModelFiles(_from_config(place, config, template_name), tokenizer)
        if isinstance(config.get("model"), dict):
            tokenizer = place
    rendering = _from_folder(folder, template_name)
    if rendering is None and tokenizer is None:
        raise BadInput(f"there is no chat template and no {_TOKENIZER} in {folder}", _REMEDY)
    return ModelFiles(rendering, tokenizer)


def load_rendering(path: str | Path, template_name: str = "default") -> Rendering:
    """The rendering that ``path`` describes.

    ``path`` is a folder with ``tokenizer_config.json`` (or ``chat_template.jinja`` beside it, which wins, as in
    ``transformers``), such a JSON file, a Jinja file, or a GGUF file. ``template_name`` picks among named templates.
    Raises :class:`BadInput` when there is no template.
    """
    place = Path(path)
    if place.is_dir():
        found = _from_folder(place, template_name)
        if found is None:
            raise BadInput(f"there is no chat template in {place}", _REMEDY)
        return found
    if place.suffix in _JINJA_SUFFIXES:
        return Rendering(name=place.stem, source=str(place), template=read_text(place))
    if is_gguf(place):
        return gguf_rendering(place)
    return _from_config(place, read_config(place), template_name)


def _from_folder(folder: Path, template_name: str) -> Rendering | None:
    configs = [folder / name for name in _CONFIGS if (folder / name).is_file()]
    tokens = read_config(configs[0]) if configs else {}
    named = folder / "additional_chat_templates" / f"{template_name}.jinja"
    for jinja in (named, folder / _JINJA):
        if jinja.is_file():
            return _rendering(folder.resolve().name, jinja, read_text(jinja), tokens)
    for config in configs:
        content = read_config(config)
        if content.get("chat_template") is not None:
            return _from_config(config, {**tokens, **content}, template_name)
    return None


def _from_config(file: Path, config: dict[str, Any], template_name: str) -> Rendering:
    template = config.get("chat_template")
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template, for_tools = named.get(template_name), named.get("tool_use")
        if isinstance(template, str) and isinstance(for_tools, str) and template_name == "default":
            # As transformers and vLLM choose between the two; the signs keep white space at the seams.
            template = f"{{%+ if tools +%}}{for_tools}{{%+ else +%}}{template}{{%+ endif +%}}"
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


def read_config(file: Path) -> dict[str, Any]:
    """A JSON object. Raises :class:`BadInput` for anything else."""
    try:
        config = msgspec.json.decode(read_text(file))
    except msgspec.DecodeError as error:
        raise BadInput(f"{file} is not JSON: {error}", _REMEDY) from error
    if not isinstance(config, dict):
        raise BadInput(f"{file} does not hold a JSON object", _REMEDY)
    return config


def read_text(file: Path) -> str:
    """A text file. Raises :class:`BadInput` where it cannot be read or is not UTF-8."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}", _REMEDY) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text", _REMEDY) from error
