"""Runs in vLLM's environment: a random Llama of four layers with the tokenizer of a GGUF file, and an adapter for it.

Arguments: GGUF-FILE MODEL-FOLDER ADAPTER-FOLDER.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM


def main(gguf: Path, target: Path) -> None:
    """Write the model's folder."""
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(target)
    tokenizer.save_pretrained(target)


def adapter(target: Path) -> None:
    """Write a random LoRA adapter of rank 8 in PEFT's form, strong enough to change any answer."""
    torch.manual_seed(1)
    weights = {}
    for layer in range(4):
        for projection, width in (("q_proj", 256), ("v_proj", 128)):
            name = f"base_model.model.model.layers.{layer}.self_attn.{projection}"
            weights[f"{name}.lora_A.weight"] = torch.randn(8, 256) / 2
            weights[f"{name}.lora_B.weight"] = torch.randn(width, 8) / 2
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 8, "lora_alpha": 16, "lora_dropout": 0.0}
    config |= {"bias": "none", "target_modules": ["q_proj", "v_proj"], "base_model_name_or_path": "tiny"}
    target.mkdir(parents=True, exist_ok=True)
    (target / "adapter_config.json").write_text(json.dumps(config))
    save_file(weights, target / "adapter_model.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
    adapter(Path(sys.argv[3]))
