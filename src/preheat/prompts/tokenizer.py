"""A model's own tokenizer, as Hugging Face and vLLM load it from ``tokenizer.json``.

The library behind it (``tokenizers``) is an extra and imported here alone, when a tokenizer is loaded.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preheat.errors import BadInput

if TYPE_CHECKING:
    import tokenizers

_BATCH_CHARS = 1 << 18
_REMEDY = "give a model's tokenizer.json, or the folder that holds it"


class Tokenizer:
    """Text to token ids and back. Tokens that are written out in a text, ``<|im_end|>`` say, are found in it.

    ``special`` says whether the tokenizer adds what its post-processor adds (a BOS, mostly). An engine does that to a
    completion prompt, and not to what a chat template wrote, which holds its own BOS already.
    """

    def __init__(self, library: tokenizers.Tokenizer, name: str) -> None:
        self.name = name
        self._library = library

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """The ids of ``text``."""
        ids: list[int] = self._library.encode(_sound(text), add_special_tokens=special).ids
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special tokens written out."""
        text: str = self._library.decode(list(ids), skip_special_tokens=False)
        return text

    def counts(self, texts: Iterable[str]) -> list[int]:
        """How many tokens each text has, without special ones added. Works in batches, on all processors."""
        found: list[int] = []
        batch: list[str] = []
        chars = 0
        for text in texts:
            batch.append(_sound(text))
            chars += len(text)
            if chars >= _BATCH_CHARS:
                found += self._counted(batch)
                batch, chars = [], 0
        return found + self._counted(batch)

    def pieces(self, words: Sequence[str]) -> list[list[str]]:
        """The tokens of each word, as text: of a word of letters as it is in mid-sentence, after a blank.

        A token that continues a word of letters has ``##`` before it. Half a character is shown as U+FFFD.
        """
        spaced = [f" {_sound(word)}" if word[:1].isalpha() else _sound(word) for word in words]
        texts: dict[int, str] = {}
        found = []
        for word, encoded in zip(words, self._library.encode_batch_fast(spaced, add_special_tokens=False), strict=True):
            for number in encoded.ids:
                if number not in texts:
                    texts[number] = self.decode([number])
            told = [texts[number].strip() or texts[number] for number in encoded.ids]
            told = [piece for piece in told if piece.strip()] or told
            inside = "##" if word[:1].isalpha() else ""
            found.append([piece if place == 0 else inside + piece for place, piece in enumerate(told)])
        return found

    def _counted(self, batch: list[str]) -> list[int]:
        return [len(one) for one in self._library.encode_batch_fast(batch, add_special_tokens=False)] if batch else []


def is_installed() -> bool:
    """Whether the extra is."""
    return importlib.util.find_spec("tokenizers") is not None


def load_tokenizer(path: str | Path) -> Tokenizer:
    """The tokenizer in ``path``: a ``tokenizer.json``, or a folder with one.

    A ``tokenizer_config.json`` beside it has its say, as in ``transformers`` 5: ``add_bos_token`` and
    ``add_eos_token`` decide what is added, and tokens that only it names are known. What the file says of truncation
    and padding is left aside. Raises :class:`BadInput` for a file that is none, and where the extra is not installed.
    """
    from preheat.prompts.hugging_face import read_config, read_text

    try:
        import tokenizers
    except ImportError as error:
        raise BadInput("tokens are counted by the package tokenizers", 'pip install "preheat[tokenizers]"') from error
    place = Path(path)
    file = place / "tokenizer.json" if place.is_dir() else place
    text = read_text(file)
    try:
        library = tokenizers.Tokenizer.from_str(text)
        library.no_truncation()
        library.no_padding()
        config = file.parent / "tokenizer_config.json"
        if config.is_file():
            _configure(library, read_config(config))
    except (KeyboardInterrupt, SystemExit, BadInput):
        raise
    except BaseException as error:  # the library's panics are no Exceptions
        raise BadInput(f"{file} is no tokenizer: {error}", _REMEDY) from error
    return Tokenizer(library, str(file))


def _configure(library: tokenizers.Tokenizer, config: dict[str, Any]) -> None:
    """What ``transformers`` adds to the file's own settings."""
    import tokenizers

    known = {token.content for token in library.get_added_tokens_decoder().values()}
    decoder = config.get("added_tokens_decoder")
    entries = [(int(number), entry) for number, entry in decoder.items()] if isinstance(decoder, dict) else []
    missing = [entry for _, entry in sorted(entries, key=lambda pair: pair[0]) if entry.get("content") not in known]
    missing += [config[name] for name in ("bos_token", "eos_token") if config.get(name)]
    for entry in missing:
        token = entry if isinstance(entry, dict) else {"content": entry, "special": True}
        if token["content"] not in known:
            known.add(token["content"])
            flags = {name: bool(token[name]) for name in _FLAGS if name in token}
            library.add_tokens([tokenizers.AddedToken(token["content"], **flags)])
    if "add_bos_token" in config or "add_eos_token" in config:
        bos = _special(library, config, "bos_token") if config.get("add_bos_token") else None
        eos = _special(library, config, "eos_token") if config.get("add_eos_token") else None
        library.post_processor = tokenizers.processors.TemplateProcessing(
            single=[*([bos[0]] if bos else []), "$A", *([eos[0]] if eos else [])],
            special_tokens=[token for token in (bos, eos) if token],
        )


_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def _special(library: tokenizers.Tokenizer, config: dict[str, Any], name: str) -> tuple[str, int] | None:
    value = config.get(name)
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str):
        return None
    number = library.token_to_id(content)
    return None if number is None else (content, number)


def _sound(text: str) -> str:
    """``text`` without halves of surrogate pairs, which JSON may hold and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
