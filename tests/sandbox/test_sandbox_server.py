"""The HTTP server on real sockets: shapes, counts and ratios; no absolute times."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from preheat.errors import BadInput
from preheat.sandbox.server import SandboxServer, serve
from preheat.sandbox.settings import SandboxSettings

CHAT = {"messages": [{"role": "system", "content": "Be terse. " * 64}, {"role": "user", "content": "Hello?"}]}
QUICK = SandboxSettings(prefill_ms_per_token=0.01, token_interval_ms=1.0, adapters=("a",), context_tokens=2048)


@pytest.fixture
async def server() -> AsyncIterator[SandboxServer]:
    async with serve(QUICK) as running:
        yield running


@pytest.fixture
async def client(server: SandboxServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(server.url) as session:
        yield session


async def post(client: aiohttp.ClientSession, path: str, body: Any) -> tuple[int, Any]:
    async with client.post(path, json=body) as reply:
        return reply.status, json.loads(await reply.text())


async def streamed(client: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> list[Any]:
    async with client.post(path, json={**body, "stream": True}) as reply:
        assert reply.content_type == "text/event-stream"
        events = [line.removeprefix("data: ") for line in (await reply.text()).split("\n\n") if line]
    assert events.pop() == "[DONE]"
    return [json.loads(event) for event in events]


async def test_a_chat_streamed_and_not_says_the_same(client: aiohttp.ClientSession) -> None:
    status, whole = await post(client, "/v1/chat/completions", {**CHAT, "max_tokens": 5})
    assert status == 200
    assert whole["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    assert whole["usage"]["completion_tokens"] == 5
    options = {"max_completion_tokens": 5, "stream_options": {"include_usage": True}}
    chunks = await streamed(client, "/v1/chat/completions", {**CHAT, **options})
    text = "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks[:-1])
    assert text == whole["choices"][0]["message"]["content"]
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None] * 5 + ["length"]
    usage = chunks[-1]["usage"]
    assert chunks[-1]["choices"] == []
    assert usage["prompt_tokens_details"]["cached_tokens"] == (usage["prompt_tokens"] - 1) // 16 * 16


async def test_a_chat_its_text_and_its_tokens_are_one_prompt(client: aiohttp.ClientSession) -> None:
    _, chat = await post(client, "/v1/chat/completions", {**CHAT, "max_tokens": 1})
    _, tokens = await post(client, "/tokenize", {**CHAT, "add_generation_prompt": True})
    assert (tokens["count"], tokens["max_model_len"]) == (chat["usage"]["prompt_tokens"], 2048)
    _, shorter = await post(client, "/tokenize", {**CHAT, "add_generation_prompt": False})
    assert shorter["count"] < tokens["count"]
    _, completion = await post(client, "/v1/completions", {"prompt": tokens["tokens"], "max_tokens": 1})
    assert completion["usage"]["prompt_tokens_details"]["cached_tokens"] == (tokens["count"] - 1) // 16 * 16
    text = "<|im_start|>system\n" + "Be terse. " * 64 + "<|im_end|>\n<|im_start|>user\nHello?<|im_end|>\n"
    _, as_text = await post(client, "/tokenize", {"prompt": text + "<|im_start|>assistant\n"})
    assert as_text["tokens"] == tokens["tokens"]


async def test_salt_and_adapter_keep_apart(client: aiohttp.ClientSession) -> None:
    worlds: list[dict[str, str]] = [{}, {"cache_salt": "s"}, {"model": "a"}, {"model": "sandbox"}]
    cached = []
    for world in worlds:
        _, reply = await post(client, "/v1/completions", {"prompt": "x" * 256, "max_tokens": 1, **world})
        cached.append(reply["usage"]["prompt_tokens_details"]["cached_tokens"])
    assert cached == [0, 0, 0, 48]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v1/completions", {"prompt": "x", "max_tokens": 0}, 400, "max_tokens must be at least 1"),
        ("/v1/completions", {"prompt": "x", "model": "b"}, 404, "The model `b` does not exist."),
        (
            "/v1/completions",
            {"prompt": "x" * 8192, "max_tokens": 7},
            400,
            "This model's maximum context length is 2048 tokens. However, you requested 2055 tokens "
            "(2048 in the messages, 7 in the completion)",
        ),
        ("/v1/chat/completions", {"prompt": "x"}, 400, "'messages' is required"),
        ("/v1/chat/completions", {"messages": [{"content": "x"}]}, 400, "role"),
        ("/v1/completions", {"prompt": [1, -2]}, 400, "prompt"),
        ("/v1/completions", {"prompt": ["a", "b"]}, 400, "prompt"),
        ("/v1/completions", {"prompt": "x", "n": 2}, 400, "n must be 1"),
        ("/v1/completions", [], 400, "not valid"),
        ("/v1/completions", {"prompt": ""}, 400, "empty"),
    ],
)
async def test_refusals(client: aiohttp.ClientSession, path: str, body: Any, status: int, words: str) -> None:
    got, reply = await post(client, path, body)
    assert got == status
    assert words in reply["error"]["message"]
    assert reply["error"]["code"] == status


async def test_what_it_says_of_itself(client: aiohttp.ClientSession) -> None:
    async with client.get("/v1/models") as reply:
        cards = (await reply.json())["data"]
    assert [(card["id"], card["parent"], card["max_model_len"]) for card in cards] == [
        ("sandbox", None, 2048),
        ("a", "sandbox", 2048),
    ]
    async with client.get("/health") as reply:
        assert reply.status == 200
    async with client.get("/version") as reply:
        assert "preheat-sandbox" in (await reply.json())["version"]
    async with client.get("/tokenizer_info") as reply:
        assert "<|im_start|>" in (await reply.json())["chat_template"]


async def test_metrics_and_reset(client: aiohttp.ClientSession) -> None:
    for _ in range(2):
        await post(client, "/v1/completions", {"prompt": "x" * 260, "max_tokens": 2})
    async with client.get("/metrics") as reply:
        lines = dict(line.rsplit(" ", 1) for line in (await reply.text()).splitlines() if line[0] != "#")
    label = '{engine="0",model_name="sandbox"}'
    assert float(lines[f"vllm:prefix_cache_queries_total{label}"]) == 130
    assert float(lines[f"vllm:prefix_cache_hits_total{label}"]) == 64
    assert float(lines[f"vllm:num_requests_running{label}"]) == 0
    assert float(lines['vllm:time_to_first_token_seconds_bucket{engine="0",model_name="sandbox",le="+Inf"}']) == 2
    assert any(line.startswith("vllm:cache_config_info{") and 'num_gpu_blocks="4096"' in line for line in lines)
    assert await post(client, "/reset_prefix_cache", {}) == (200, {"success": True})
    _, after = await post(client, "/v1/completions", {"prompt": "x" * 260, "max_tokens": 2})
    assert after["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


async def test_a_client_that_goes_away_frees_its_blocks() -> None:
    async with serve(SandboxSettings(token_interval_ms=50)) as server:
        async with aiohttp.ClientSession(server.url) as client:
            body = {"prompt": "x" * 400, "max_tokens": 10_000, "stream": True}
            async with client.post("/v1/completions", json=body) as reply:
                await reply.content.readline()
                assert server.core.cache.used_blocks > 0
                assert await post(client, "/reset_prefix_cache", {}) == (200, {"success": False})
        async with asyncio.timeout(30):
            while server.core.cache.used_blocks:
                await asyncio.sleep(0.01)
        assert server.core.scheduler.running == 0
        assert server.core.counted.finished["abort"] == 1


async def test_faults_on_the_wire(server: SandboxServer, client: aiohttp.ClientSession) -> None:
    body = {"prompt": "x" * 40, "max_tokens": 6}
    server.core.switch(error_rate=1.0)
    status, reply = await post(client, "/v1/completions", body)
    assert (status, reply["error"]["type"]) == (500, "InternalServerError")
    server.core.switch(error_rate=0.0, garbage=True)
    with pytest.raises(ValueError, match="Expecting value"):
        await post(client, "/v1/completions", body)
    server.core.switch(garbage=False, die_half_way=True)
    with pytest.raises(aiohttp.ClientError):
        await streamed(client, "/v1/completions", body)
    server.core.switch(die_half_way=False, refuse_after=0)
    with pytest.raises(aiohttp.ClientError):
        await post(client, "/v1/completions", body)


async def test_a_key_is_asked_for_and_a_full_line_is_503() -> None:
    settings = SandboxSettings(api_key="k", max_running=1, queue_limit=0, token_interval_ms=50)
    async with serve(settings) as server, aiohttp.ClientSession(server.url) as client:
        body = {"prompt": "x", "max_tokens": 1000, "stream": True}
        assert (await post(client, "/v1/completions", body))[0] == 401
        client.headers["Authorization"] = "Bearer k"
        async with client.post("/v1/completions", json=body) as first:
            await first.content.readline()
            status, reply = await post(client, "/v1/completions", body)
            assert (status, reply["error"]["type"]) == (503, "ServiceUnavailableError")


async def test_a_taken_port_is_bad_input(server: SandboxServer) -> None:
    with pytest.raises(BadInput):
        async with serve(QUICK, port=int(server.url.rsplit(":", 1)[1])):
            pass
