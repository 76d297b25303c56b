"""Runs in vLLM's environment: names blocks with vLLM's own functions. JSON cases on standard input, names on output.

A case: ``ids``, ``block_size``, ``algorithm``, ``seed`` (or null), ``lora`` ([name, path] or null), ``salt``, ``media``
([identifier, offset, length] each).
"""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace
from typing import Any

import vllm.v1.core.kv_cache_utils as vllm_blocks
from vllm.utils.hashing import get_hash_fn_by_name


def names(case: dict[str, Any]) -> list[str]:
    """What vLLM calls the whole blocks of one request."""
    os.environ.pop("PYTHONHASHSEED", None)
    if case["seed"] is not None:
        os.environ["PYTHONHASHSEED"] = case["seed"]
    function = get_hash_fn_by_name(case["algorithm"])
    vllm_blocks.init_none_hash(function)
    media = [
        SimpleNamespace(identifier=name, mm_position=SimpleNamespace(offset=offset, length=length))
        for name, offset, length in case["media"]
    ]
    lora = case["lora"] and SimpleNamespace(lora_name=case["lora"][0], lora_path=case["lora"][1])
    request = SimpleNamespace(
        block_hashes=[],
        num_tokens=len(case["ids"]),
        all_token_ids=case["ids"],
        mm_features=media,
        lora_request=lora,
        cache_salt=case["salt"],
        prompt_embeds=None,
    )
    found = vllm_blocks.get_request_block_hasher(case["block_size"], function)(request)
    shown = vllm_blocks.maybe_convert_block_hash(found[0]) if found else None
    return [*(one.hex() for one in found), *([str(shown)] if found else [])]


print(json.dumps([names(case) for case in json.load(sys.stdin)]))
