"""Blocks named from a log and a tokenizer are those that a real vLLM says it has stored."""

from __future__ import annotations

import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.engine_fixtures import VLLM_BLOCK_TOKENS, VLLM_HASH_SEED, VllmServer
from preheat.blocks.hashes import Apart, block_hashes, event_hash
from preheat.prompts.render import renderer_for
from preheat.prompts.tokenizer import load_tokenizer
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request
from prompts.tiny_model import CHAT_TEMPLATE

pytestmark = [pytest.mark.heavy, pytest.mark.vllm, pytest.mark.timeout(2400)]
LISTENER = Path(__file__).parents[1] / "engines" / "vllm_events.py"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find_parcel",
            "description": "Finds a parcel by its order number, and says where it was seen last.",
            "parameters": {"type": "object", "properties": {"order": {"type": "string", "description": "OS-…"}}},
        },
    }
]
CHAT = (
    Message(role="system", content="You answer questions about parcels. Ask for the order number first. " * 6),
    Message(role="user", content="Wo ist mein Paket? 我的包裹在哪里？ It is OS-123456789."),
)


class Events:
    """What a listener in vLLM's environment has heard so far."""

    def __init__(self, root: Path, address: str) -> None:
        command = [str(root / "venv" / "bin" / "python"), str(LISTENER), address]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.stored: list[dict[str, Any]] = []
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "listening\n"
        threading.Thread(target=self._listen, daemon=True).start()
        time.sleep(2)  # a subscription reaches the publisher a moment after it was made

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self.stored.append(json.loads(line))

    def wait_for(self, name: int, seconds: float = 60) -> list[int]:
        """All names heard once ``name`` is among them, or the time is up."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s and name not in self.names:
            time.sleep(0.1)
        return self.names

    @property
    def names(self) -> list[int]:
        return [name for event in list(self.stored) for name in event["block_hashes"]]


@pytest.fixture(scope="module")
def events(vllm_server: VllmServer) -> Iterator[Events]:
    if vllm_server.events is None or vllm_server.root is None:
        pytest.skip("the vLLM that runs already does not tell where it publishes")
    heard = Events(vllm_server.root, vllm_server.events)
    yield heard
    heard.process.kill()
    heard.process.wait(10)


def _post(url: str, body: dict[str, Any]) -> None:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        assert reply.status == 200


@pytest.mark.parametrize("apart", ["nothing", "salt", "adapter"])
def test_vllm_stores_the_blocks_that_we_name(vllm_server: VllmServer, events: Events, apart: str) -> None:
    """A chat with tools, rendered by a template of the model's, with nothing else, with a salt, with an adapter."""
    assert vllm_server.root is not None
    chat = Request(
        id="1", messages=(*CHAT[:1], Message(role="user", content=f"{CHAT[1].content} {apart}")), tools=TOOLS
    )
    template = Rendering(template=CHAT_TEMPLATE)
    ids = load_tokenizer(vllm_server.root / "tiny").encode(renderer_for(template).render(chat))
    keys = {
        "nothing": Apart(),
        "salt": Apart(cache_salt="tenant-1"),
        "adapter": Apart(adapter=("legal", str(vllm_server.root / "adapter"))),
    }[apart]
    ours = [event_hash(name) for name in block_hashes(ids, VLLM_BLOCK_TOKENS, seed=VLLM_HASH_SEED, apart=keys)]
    body = {
        "model": "legal" if apart == "adapter" else "tiny",
        "messages": [{"role": message.role, "content": message.content} for message in chat.messages],
        "tools": TOOLS,
        "tool_choice": "none",
        "chat_template": CHAT_TEMPLATE,
        "max_tokens": 1,
        **({"cache_salt": "tenant-1"} if apart == "salt" else {}),
    }
    assert len(ours) > 4
    _post(f"{vllm_server.url}/v1/chat/completions", body)
    heard = events.wait_for(ours[-1])
    assert set(ours) <= set(heard)
    stored = [event for event in events.stored if ours[0] in event["block_hashes"]]
    assert stored[0]["block_size"] == VLLM_BLOCK_TOKENS
    assert stored[0]["token_ids"] == ids[: len(stored[0]["token_ids"])]
