"""Whatever an engine does wrong arrives as one of our own faults, and never with a key in it."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from contracts.engine_fixtures import free_port
from engines.misbehaving import Handler, answering, echoing_the_key, hanging, hanging_up, replying, streaming
from preheat.engines.faults import EngineBusy
from preheat.engines.llamacpp import LlamaCppEngine
from preheat.engines.openai import OpenAIEngine
from preheat.engines.settings import EngineSettings
from preheat.engines.table import connect
from preheat.engines.vllm import VllmEngine
from preheat.engines.wire import Wire
from preheat.errors import (
    BadInput,
    ContextExceeded,
    EngineDenied,
    EngineFailed,
    EngineGarbage,
    EngineRejected,
    EngineTimeout,
    EngineUnreachable,
)
from preheat.records.request import Message, Request
from preheat.records.target import EngineInfo

KEY = "sk-very-secret-0123456789"
REQUEST = Request(id="r", messages=(Message("user", "Hello"),))


@asynccontextmanager
async def wire_to(handler: Handler, **settings: object) -> AsyncIterator[Wire]:
    async with answering(handler) as url:
        wire = Wire(url, EngineSettings(**settings))  # type: ignore[arg-type]
        yield wire
        await wire.close()


def event(**fields: object) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


def token(text: str, finish: str | None = None) -> bytes:
    return event(choices=[{"delta": {"content": text}, "finish_reason": finish}])


async def generated_from(handler: Handler, timeout_s: float = 5.0) -> object:
    async with wire_to(handler) as wire:
        engine = OpenAIEngine(wire)
        engine._info = EngineInfo(kind="openai", url=wire.url, model="m", reports_cached=True)
        return await engine.generate(REQUEST, max_tokens=4, timeout_s=timeout_s)


async def test_refused() -> None:
    wire = Wire(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(EngineUnreachable, match="is it running"):
        await wire.get_json("/v1/models")
    await wire.close()


async def test_a_name_that_does_not_resolve() -> None:
    wire = Wire("http://no-such-engine.invalid:8000", EngineSettings(trust_env=False))
    with pytest.raises(EngineUnreachable, match="no-such-engine"):
        await wire.get_json("/v1/models")
    await wire.close()


async def test_hangs() -> None:
    async with wire_to(hanging) as wire:
        with pytest.raises(EngineTimeout, match=r"within 0\.2 s"):
            await wire.post_json("/v1/completions", {}, timeout_s=0.2)


async def test_hangs_within_a_stream() -> None:
    with pytest.raises(EngineTimeout):
        await generated_from(streaming([token("a")], hang=True), timeout_s=0.3)


async def test_hangs_up_without_an_answer() -> None:
    async with wire_to(hanging_up) as wire:
        with pytest.raises(EngineFailed, match="half-way"):
            await wire.post_json("/v1/completions", {})


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_server_errors(status: int) -> None:
    async with wire_to(replying(status, {"error": {"message": "CUDA error"}})) as wire:
        with pytest.raises(EngineFailed, match=rf"HTTP {status}.*CUDA error"):
            await wire.post_json("/v1/completions", {})


@pytest.mark.parametrize("end", [{"die": True}, {}])
async def test_dies_half_way_through_a_stream(end: dict[str, bool]) -> None:
    """Whether the connection breaks or the stream just ends before the answer has."""
    with pytest.raises(EngineFailed, match="half-way"):
        await generated_from(streaming([token("a"), token("b")], **end))


@pytest.mark.parametrize(
    "pieces",
    [
        [token("a"), b"data: {half a thing\n\n"],
        [b"data: \xff\xfe\x00\n\n"],
        [b"data: [1, 2]\n\n"],
        [b'data: {"choices": 7}\n\n'],
        [b'data: {"choices": [{"delta": 5}]}\n\n'],
        [b'data: {"hello": "world"}\n\n'],
    ],
)
async def test_streams_garbage(pieces: list[bytes]) -> None:
    with pytest.raises(EngineGarbage):
        await generated_from(streaming(pieces))


async def test_an_error_within_a_stream() -> None:
    with pytest.raises(EngineFailed, match="out of memory"):
        await generated_from(streaming([token("a"), event(error={"message": "out of memory", "code": 500})]))
    with pytest.raises(EngineFailed, match="slot gone"):
        await generated_from(streaming([b'error: {"message": "slot gone", "code": 500}\n\n']))


@pytest.mark.parametrize("body", ["<html>It works!</html>", "", "{"])
async def test_not_json(body: str) -> None:
    async with wire_to(replying(200, body)) as wire:
        with pytest.raises(EngineGarbage, match="not JSON"):
            await wire.get_json("/v1/models")


async def test_not_http() -> None:
    async def babble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    wire = Wire(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    with pytest.raises(EngineGarbage):
        await wire.get_json("/v1/models")
    await wire.close()
    server.close()


@pytest.mark.parametrize("kind", ["llamacpp", "vllm", "openai"])
@pytest.mark.parametrize("body", [{}, [], {"data": 3}, {"data": [{"no": "id"}]}, 7, None])
async def test_json_that_is_not_the_protocol(kind: str, body: object) -> None:
    async with answering(replying(200, body)) as url:
        engine = await connect(url, kind)
        with pytest.raises(EngineGarbage):
            await engine.describe()
        await engine.close()


@pytest.mark.parametrize("status", [401, 403])
async def test_denied(status: int) -> None:
    async with wire_to(replying(status, {"error": "Unauthorized"})) as wire:
        with pytest.raises(EngineDenied, match="api-key-env"):
            await wire.get_json("/v1/models")


async def test_the_key_is_never_echoed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("ENGINE_KEY", KEY)
    settings = {"api_key_env": "ENGINE_KEY", "headers": {"X-Tenant-Token": "tenant-secret"}}
    for handler in (echoing_the_key, _echoing(400), _echoing(500), _echoing(429), _echoing(200), _echoing_in_a_stream):
        async with wire_to(handler, **settings) as wire:
            with pytest.raises((EngineDenied, EngineFailed, EngineRejected, EngineBusy, EngineGarbage)) as caught:
                async for _ in wire.stream("/v1/completions", {}):
                    pass
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
        assert KEY not in shown
        assert "tenant-secret" not in shown
    assert KEY not in repr(EngineSettings(**settings))  # type: ignore[arg-type]
    assert "tenant-secret" not in repr(EngineSettings(**settings))  # type: ignore[arg-type]


def _echoing(status: int) -> Handler:
    async def handler(request: object) -> object:
        headers = request.headers  # type: ignore[attr-defined]
        told = f"data: {headers['Authorization']} {headers['X-Tenant-Token']}\n\n"
        return await replying(status, told)(request)  # type: ignore[arg-type]

    return handler  # type: ignore[return-value]


async def _echoing_in_a_stream(request: object) -> object:
    headers = request.headers  # type: ignore[attr-defined]
    told = f"{headers['Authorization']} {headers['X-Tenant-Token']}"
    return await streaming([event(error={"message": told, "code": 400})])(request)  # type: ignore[arg-type]


async def test_a_key_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGINE_KEY", raising=False)
    with pytest.raises(BadInput, match="ENGINE_KEY"):
        Wire("http://127.0.0.1:1", EngineSettings(api_key_env="ENGINE_KEY"))


@pytest.mark.parametrize(("told", "seconds"), [("7", 7.0), ("0.5", 0.5), (None, None), ("tomorrow", None)])
@pytest.mark.parametrize("status", [429, 503])
async def test_overloaded(status: int, told: str | None, seconds: float | None) -> None:
    headers = {} if told is None else {"Retry-After": told}
    async with wire_to(replying(status, {"error": {"message": "queue is full"}}, headers)) as wire:
        with pytest.raises(EngineBusy, match="queue is full") as caught:
            await wire.post_json("/v1/completions", {})
    assert caught.value.retry_after_s == seconds


LIMIT = "This model's maximum context length is 4096 tokens. However, "
PASSED = "You passed 4097 input tokens and requested 1 output tokens. However, "


@pytest.mark.parametrize(
    ("message", "asked", "context"),
    [
        (LIMIT + "your prompt contains 5000 input tokens, which exceeds this limit", 5000, 4096),
        (LIMIT + "your prompt contains at least 4097 input tokens", 4097, 4096),
        (LIMIT + "you requested 4200 tokens (4100 in the messages, 100 in the completion)", 4200, 4096),
        (PASSED + "the model's context length is only 4096 tokens", 4097, 4096),
        ("the request exceeds the context window", None, None),
    ],
)
async def test_too_long_by_vllms_words(message: str, asked: int | None, context: int | None) -> None:
    async with wire_to(replying(400, {"error": {"message": message, "code": 400}})) as wire:
        with pytest.raises(ContextExceeded) as caught:
            await wire.post_json("/v1/completions", {})
    assert (caught.value.prompt_tokens, caught.value.context_tokens) == (asked, context)


async def test_too_long_by_llamacpps_words() -> None:
    error = {"code": 400, "message": "request (12001 tokens) exceeds the available context size (8192 tokens)"}
    error |= {"type": "exceed_context_size_error", "n_prompt_tokens": 12001, "n_ctx": 8192}
    for body in ({"error": error}, {"error": {**error, "n_prompt_tokens": None, "n_ctx": None}}):
        async with wire_to(replying(400, body)) as wire:
            with pytest.raises(ContextExceeded) as caught:
                await wire.post_json("/completion", {})
        assert (caught.value.prompt_tokens, caught.value.context_tokens) == (12001, 8192)


async def test_rejected() -> None:
    async with wire_to(replying(422, {"error": {"message": "temperature must be a number"}})) as wire:
        with pytest.raises(EngineRejected, match="temperature") as caught:
            await wire.post_json("/v1/completions", {})
    assert not isinstance(caught.value, ContextExceeded)


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host", "http://", "http://host:port", "http://h:99999"])
async def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(BadInput):
        await connect(url)


async def test_a_url_shows_no_password() -> None:
    wire = Wire("http://somebody:hunter22@127.0.0.1:8000/v1/")
    assert wire.url == "http://127.0.0.1:8000"
    assert "hunter22" not in wire.scrub("hunter22 was wrong")


async def test_an_unknown_kind() -> None:
    with pytest.raises(BadInput, match="llamacpp"):
        await connect("http://127.0.0.1:1", "tgi")


@pytest.mark.parametrize("adapter", [OpenAIEngine, VllmEngine, LlamaCppEngine])
async def test_an_engine_that_comes_back_is_used_again(adapter: type[OpenAIEngine]) -> None:
    """A fault leaves nothing behind that would spoil the next call."""
    port = free_port()
    engine = adapter.at(f"http://127.0.0.1:{port}")
    with pytest.raises(EngineUnreachable):
        await engine.describe()
    from preheat.sandbox.server import serve

    async with serve(port=port):
        if adapter is LlamaCppEngine:
            with pytest.raises(EngineRejected):  # it is no llama.cpp
                await engine.describe()
        else:
            assert (await engine.describe()).model == "sandbox"
    await engine.close()
