"""A model's folder with a real, if tiny, tokenizer: byte-level BPE of a few hundred merges, trained on the spot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPECIAL = ("<|im_start|>", "<|im_end|>", "<s>")
CHAT_TEMPLATE = (
    "{% if tools %}<|im_start|>tools\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXTS = (
    "You are a helpful assistant. Answer the question in one short sentence, and say why you think so.",
    "The capital of France is Paris; the capital of Spain is Madrid. What is the capital of Germany?",
    "def mean(values):\n    return sum(values) / len(values)\n\n\nassert mean([1, 2, 3]) == 2\n",
    "请用简短的中文回答下面的问题，并说明理由。法国的首都是哪里？",
)


def write_model(folder: Path, *, template: str | None = CHAT_TEMPLATE, **config: Any) -> Path:
    """Makes ``folder`` with tokenizer.json, tokenizer_config.json and, unless it is ``None``, a template."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, trainers

    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    library.train_from_iterator(TEXTS * 4, trainer)
    folder.mkdir(parents=True, exist_ok=True)
    library.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "<|im_end|>"} | config))
    if template is not None:
        (folder / "chat_template.jinja").write_text(template)
    return folder
