"""An engine that lies, babbles or never stops ends as one of our own faults, with a remedy and no secret in it."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from engines.misbehaving import Handler, answering, replying, streaming
from preheat.engines import wire as wire_module
from preheat.engines.address import base_url
from preheat.engines.calibrate import calibrate
from preheat.engines.counts import ms_of, prefill_of
from preheat.engines.faults import EngineBusy
from preheat.engines.openai import OpenAIEngine
from preheat.engines.settings import EngineSettings
from preheat.engines.shown import shown
from preheat.engines.sse import LONGEST_EVENT_BYTES, EventParser, EventTooLong
from preheat.engines.table import ENGINES, connect
from preheat.engines.vllm import _cache_config
from preheat.engines.wire import Wire
from preheat.errors import BadInput, ContextExceeded, EngineFailed, EngineFault, EngineGarbage, EngineRejected
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Message, Request
from preheat.records.target import EngineInfo

CHAT = Prefix("<|im_start|>system\nBe brief", Rendering())
REQUEST = Request(id="r", messages=(Message("user", "Hello"),))
HUGE = 10**400
NAN, INFINITY = float("nan"), float("inf")
NO_COUNTS = [-5, True, "100", 100.0, NAN, INFINITY, HUGE, 2**53, [1], {}]
DEEP = "[" * 200_000


def counted(prompt: object, cached: object = None) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": prompt, "completion_tokens": 1, **details}


def stream_of(*events: object) -> Handler:
    return streaming([b"data: " + (e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n\n" for e in events])


@asynccontextmanager
async def adapter(handler: Handler, kind: str = "openai", **known: Any) -> AsyncIterator[OpenAIEngine]:
    """An adapter of ``kind`` that has already been told what the engine is."""
    async with answering(handler) as url:
        engine = ENGINES[kind](Wire(url))
        engine._info = EngineInfo(kind=kind, url=url, model="m", **known)
        try:
            yield engine
        finally:
            await engine.close()


async def fault_of(handler: Handler, kind: str = "openai", *, generate: bool = False) -> EngineFault:
    async with adapter(handler, kind, reports_cached=True) as engine:
        with pytest.raises(EngineFault) as caught:
            await (engine.generate(REQUEST, max_tokens=4) if generate else engine.prefill(CHAT, [1, 2, 3]))
    assert caught.value.remedy
    assert engine.url in caught.value.message
    return caught.value


@pytest.mark.parametrize("cached", [*NO_COUNTS, 1_000_000, 11])
async def test_impossible_cached_tokens(cached: object) -> None:
    usage = counted(10, cached)
    for kind in ("openai", "vllm"):
        fault = await fault_of(replying(200, {"choices": [], "usage": usage}), kind)
        assert isinstance(fault, EngineGarbage)
        assert "cached_tokens" in fault.message
    done = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    for kind in ENGINES:
        fault = await fault_of(stream_of(done), kind, generate=True)
        assert isinstance(fault, EngineGarbage)
        assert "cached_tokens" in fault.message


@pytest.mark.parametrize("prompt", NO_COUNTS)
async def test_impossible_prompt_and_output_tokens(prompt: object) -> None:
    fault = await fault_of(replying(200, {"usage": counted(prompt)}))
    assert "prompt_tokens" in fault.message
    done = {"choices": [{"text": "x", "finish_reason": "stop"}]}
    for usage in (counted(prompt), {"prompt_tokens": 5, "completion_tokens": prompt}):
        fault = await fault_of(stream_of({**done, "usage": usage}), generate=True)
        assert isinstance(fault, EngineGarbage)
        assert "_tokens" in fault.message


@pytest.mark.parametrize("field", ["cache_n", "prompt_n"])
@pytest.mark.parametrize("value", [*NO_COUNTS, None])
async def test_impossible_timings_of_llamacpp(field: str, value: object) -> None:
    fault = await fault_of(replying(200, {"timings": {"cache_n": 1, "prompt_n": 2, field: value}}), "llamacpp")
    assert isinstance(fault, EngineGarbage)
    assert field in fault.message


@pytest.mark.parametrize("body", [[1, 2], None, 7, "x", {}, {"timings": [1]}, {"timings": 3}, {"usage": "yes"}])
async def test_replies_that_are_none(body: object) -> None:
    for kind in ENGINES:
        assert isinstance(await fault_of(replying(200, json.dumps(body)), kind), EngineGarbage)


@pytest.mark.parametrize("value", [NAN, INFINITY, -1, -INFINITY, "5", True, None, [], HUGE])
def test_times_that_are_none_are_not_said(value: object) -> None:
    assert ms_of(value) is None
    said = prefill_of("x", prompt_tokens=3, cached_tokens=0, prompt_ms=value, wall_ms=1.0)
    assert (said.prompt_ms, said.cached_tokens) == (None, 0)
    assert ms_of(3) == 3.0


PROPS = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}


def llamacpp(props: object = PROPS, tokens: object = (1, 2), adapters: object = ()) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        answers = {"/props": props, "/tokenize": {"tokens": tokens}, "/v1/models": {"data": [{"id": "m"}]}}
        answers |= {"/lora-adapters": adapters, "/apply-template": {"prompt": 5}}
        if request.path not in answers:
            return web.json_response({}, status=501)
        return web.json_response(answers[request.path])

    return handler


@pytest.mark.parametrize("value", ["4096", 0, -1, True, 4096.0, NAN, INFINITY, HUGE, None, [], {}])
async def test_impossible_properties_of_llamacpp(value: object) -> None:
    for props in ({**PROPS, "default_generation_settings": {"n_ctx": value}}, {**PROPS, "total_slots": value}):
        async with answering(llamacpp(props)) as url:
            engine = await connect(url)
            with pytest.raises(EngineGarbage) as caught:
                await engine.describe()
            await engine.close()
        assert caught.value.remedy


async def test_odd_words_of_llamacpp_count_as_not_said() -> None:
    async with answering(llamacpp({**PROPS, "chat_template": 5, "bos_token": [], "build_info": "b\x1b[31m1"})) as url:
        engine = await connect(url)
        info = await engine.describe()
        await engine.close()
    assert (info.chat_template, info.bos_token, info.version) == (None, "", "b[31m1")


@pytest.mark.parametrize("tokens", [None, 5, "ab", [INFINITY], [1.5], ["1"], [True], [-1], [HUGE], [None], {"a": 1}])
async def test_tokens_that_are_none(tokens: object) -> None:
    for kind in ("llamacpp", "vllm"):
        async with adapter(llamacpp(tokens=tokens), kind) as engine:
            with pytest.raises(EngineGarbage, match="gave no tokens"):
                await engine.shared_tokens([Prefix("text", Rendering(template="x"))])
    async with adapter(llamacpp(), "llamacpp") as engine:
        with pytest.raises(EngineGarbage, match="gave no prompt"):
            await engine.shared_tokens([CHAT])


@pytest.mark.parametrize("adapters", [5, {"a": 1}, [5], [{"path": None}], [{"path": "legal", "id": "../x"}], [{}]])
async def test_adapters_that_are_none(adapters: object) -> None:
    async with adapter(llamacpp(adapters=adapters), "llamacpp") as engine:
        with pytest.raises(EngineGarbage, match="lora-adapters"):
            await engine.prefill(CHAT, [1], adapter="legal")


@pytest.mark.parametrize("size", ["0", "²", "9" * 5000, "-1", "1.5", ""])
def test_block_sizes_that_are_none(size: str) -> None:
    assert not _cache_config(f'vllm:cache_config_info{{block_size="{size}"}} 1\n').get("block_size")


def vllm(config: str = "", **model: object) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path == "/metrics":
            return web.Response(text=f"vllm:cache_config_info{{{config}}} 1\n")
        if request.path == "/v1/models":
            return web.json_response({"data": [{"id": "m", **model}]})
        if request.path == "/version":
            return web.json_response({"version": [1]})
        return web.json_response({"choices": [], "usage": counted(33, 0)})

    return handler


async def test_odd_configurations_of_vllm() -> None:
    for config in ("", 'block_size="0",num_gpu_blocks="0"', f'block_size="{"9" * 5000}",num_gpu_blocks="²"'):
        async with answering(vllm(config)) as url:
            engine = await connect(url, "vllm")
            info = await engine.describe()
            await engine.close()
        assert (info.block_tokens, info.capacity_tokens, info.context_tokens, info.version) == (16, None, None, None)
    for handler in (vllm('block_size="99999999999"'), *(vllm(max_model_len=n) for n in ("4096", 0, -1, True, HUGE))):
        async with answering(handler) as url:
            engine = await connect(url, "vllm")
            with pytest.raises(EngineGarbage):
                await engine.describe()
            await engine.close()


@pytest.mark.parametrize("name", [5, None, "\x1b[31mevil", "a\ud800", ["m"]])
async def test_model_names_that_are_none(name: object) -> None:
    for kind in ENGINES:
        async with answering(replying(200, {"data": [{"id": name}], **PROPS})) as url:
            engine = await connect(url, kind)
            with pytest.raises(EngineGarbage, match="model name"):
                await engine.describe()
            await engine.close()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirection_is_followed(status: int) -> None:
    reached: list[str] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        reached.append(request.path)
        return web.json_response({"data": []})

    async with answering(elsewhere) as other:

        async def handler(request: web.Request) -> web.StreamResponse:
            to = f"{other.replace('//', '//u:sekret@')}{request.path}?key=tenant-secret"
            return web.Response(status=status, headers={"Location": to})

        async with answering(handler) as url:
            wire = Wire(url, EngineSettings(headers={"X-Key": "tenant-secret"}))
            for call in (wire.get_json("/v1/models"), wire.post_json("/v1/models", {})):
                with pytest.raises(EngineGarbage) as caught:
                    await call
                assert f"redirects to {other} (HTTP" in caught.value.message
                assert caught.value.remedy == "give that URL"
                assert "sekret" not in str(caught.value)
            await wire.close()
            engine = await connect(url)  # what asks for the kind of engine follows none either
            with pytest.raises(EngineGarbage, match="redirects to"):
                await engine.describe()
            await engine.close()
    assert reached == []


@pytest.mark.parametrize("location", ["", "http://[::1", "/login", "\u00ff", "//x:y@[", "http://h:0x5/"])
async def test_odd_redirections(location: str) -> None:
    fault = await fault_of(replying(302, "", {"Location": location}))
    assert isinstance(fault, EngineGarbage)
    assert isinstance(await fault_of(replying(304, "")), EngineGarbage)


TOLD = "\x1b[31minvalid prompt:\x07\u202e\x9b I am jane.doe@example.com, key sk-abc123def456ghi789jkl \x00"


@pytest.mark.parametrize("status", [200, 400, 429, 500])
async def test_error_texts_are_redacted_and_without_controls(status: int) -> None:
    error = {"message": TOLD + "context length " * (status == 400), "code": status}
    told = [(await fault_of(replying(status, {"error": error}))).message, (await fault_of(replying(200, TOLD))).message]
    told.append((await fault_of(stream_of({"error": error}), generate=True)).message)
    for message in told:
        assert "jane.doe" not in message
        assert "sk-abc123" not in message
        assert message.isprintable()
        assert "invalid prompt" in message


def test_a_secret_at_the_cut_is_not_shown() -> None:
    for padding in (250, 290, 4000, 4390, 16_370):
        assert "sk-abc" not in shown("x " * (padding // 2) + "sk-abc123def456ghi789jkl" * 3)
    assert "sk-abc" not in shown(" " * 16_370 + "sk-abc123def456ghi789jkl")
    assert shown("a\x1b\n\u2028b\ud800") == "a b"


async def test_credentials_given_go_before_a_netrc_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("default login them password theirs\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("ENGINE_KEY", "key-0123")

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response(request.headers.getall("Authorization"))

    async with answering(handler) as url:
        user = url.replace("//", "//joe:p%40ssw\u00f6rd@")
        for at, settings, sent in (
            (user, EngineSettings(headers={"authorization": "other"}), "Basic am9lOnBAc3N3w7ZyZA=="),
            (user, EngineSettings(api_key_env="ENGINE_KEY"), "Bearer key-0123"),
            (url, EngineSettings(headers={"authorization": "other"}), "other"),
        ):
            wire = Wire(at, settings)
            assert await wire.get_json("/x") == [sent]
            assert await wire.post_json("/x", {}) == [sent]
            await wire.close()


async def test_secrets_are_scrubbed_however_they_are_written() -> None:
    for told in (r"abc\/def-secret", "abc/def-secret", r"abc\u002fdef-secret"):
        async with answering(replying(400, f'{{"error": {{"message": "no: {told}"}}}}')) as url:
            wire = Wire(url.replace("//", "//joe:p%40ssword1@"), EngineSettings(headers={"X": "abc/def-secret"}))
            with pytest.raises(EngineRejected, match=r"no: \*\*\*"):
                await wire.post_json("/x", {})
            assert wire.scrub("p@ssword1 p%40ssword1 am9lOnBAc3N3b3JkMQ==") == "*** *** ***"
            await wire.close()


@pytest.mark.parametrize(
    "url",
    ["http://user:sekret@host:0x50/", "http://user:sekret@h:99999", "http://user:sekret@[::1", "user:sekret@host:80",
     "http://user:sek/ret@host", "http://user:sek?r#et@host", "http://u:sekret@a b/", "http://u:sekret@..:1",
     "http://[::1", "http://..:1", "http://xn--/", f"http://{'a' * 64}.com/", "http://a..b", "http://[zz::1]/",
     "http://h\x1b[31m/", "http://u%0a:sekret@h/", "http://u%3a:sekret@h/", "http://%41/", "http://\ud800/"],
)  # fmt: skip
async def test_urls_that_are_none_and_show_no_password(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        await connect(url)
    assert caught.value.remedy
    for part in ("sek", "ret@", "\x1b"):
        assert part not in str(caught.value)


@given(st.text(max_size=30))
def test_any_url_is_one_or_bad_input(text: str) -> None:
    for url in (text, f"http://{text}", f"http://u:sekret-0{text}@host:0x"):
        told = ""
        try:
            base_url(url)
        except BadInput as error:
            told = str(error)
        assert "sekret" not in told


def test_urls_that_are_good() -> None:
    assert base_url("http://joe:p%40ss@[::1]:8/v1/") == ("http://[::1]:8", ("joe", "p@ss"))
    assert base_url("https://b\u00fccher.de/a")[0] == "https://b\u00fccher.de/a"
    assert base_url(" http://a_b.local.:80/ ")[0] == "http://a_b.local.:80"


@pytest.mark.parametrize("bad", ["se\ncret", "se\rcret", "se\x00cret", "se\x1bcret", "se\udcffcret"])
def test_keys_and_headers_that_cannot_be_sent(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="X-Tenant") as caught:
        Wire("http://h", EngineSettings(headers={"X-Tenant": bad}))
    assert "cret" not in str(caught.value)
    with pytest.raises(BadInput, match="name of an HTTP header"):
        Wire("http://h", EngineSettings(headers={"X Tenant" + bad: "v"}))
    if "\x00" not in bad:
        monkeypatch.setenv("ENGINE_KEY", bad)
        with pytest.raises(BadInput, match="ENGINE_KEY") as caught:
            Wire("http://h", EngineSettings(api_key_env="ENGINE_KEY"))
        assert "cret" not in str(caught.value)


async def test_a_reply_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_module, "_LONGEST_REPLY_BYTES", 2**20)
    sent = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        reply = web.StreamResponse(status=int(request.query.get("status", "200")))
        await reply.prepare(request)
        while sent < 2**28:
            await reply.write(b"x" * 65536)
            sent += 65536
        return reply

    async with answering(handler) as url:
        wire = Wire(url)
        with pytest.raises(EngineGarbage, match="more than 1 MiB") as caught:
            await wire.get_json("/v1/models")
        assert caught.value.remedy
        with pytest.raises(EngineFailed, match="HTTP 500"):
            await wire.get_json("/v1/models?status=500")
        await wire.close()
    assert sent < 2**26


async def test_a_stream_without_end() -> None:
    more = {"choices": [{"delta": {"content": "x"}, "finish_reason": None}]}
    fault = await fault_of(stream_of(*[more] * 100), generate=True)
    assert isinstance(fault, EngineGarbage)
    assert "does not stop at max_tokens" in fault.message
    fault = await fault_of(streaming([b"data: " + b"x" * 2**20] * 9), generate=True)
    assert isinstance(fault, EngineGarbage)
    assert "8 MiB" in fault.message


def test_events_take_linear_time_and_bounded_memory() -> None:
    began_s = time.monotonic()
    parser = EventParser()
    for _ in range(2**13):
        parser.feed(b"x" * 2**10 if _ else b": ")
    with pytest.raises(EventTooLong):
        parser.feed(b"x" * 2**11)
    assert len(EventParser().feed(b"data: x\n\n" * 400_000)) == 400_000
    assert time.monotonic() - began_s < 5.0
    parser, line = EventParser(), b"data: " + b"x" * 2**20 + b"\n"
    for _ in range(LONGEST_EVENT_BYTES // len(line)):
        parser.feed(line)
    with pytest.raises(EventTooLong):
        parser.feed(line)


@pytest.mark.parametrize("text", [DEEP, DEEP + "]" * 200_000, "9" * 5000, '{"a":' * 100_000])
async def test_json_without_bottom(text: str) -> None:
    for kind in ENGINES:
        assert isinstance(await fault_of(replying(200, text), kind), EngineGarbage)
        assert isinstance(await fault_of(replying(400, text), kind), EngineRejected)
        assert isinstance(await fault_of(replying(500, f'{{"error": {text}}}'), kind), EngineFailed)
        assert isinstance(await fault_of(stream_of(text.encode()), kind, generate=True), EngineGarbage)


async def test_numbers_without_end_in_error_texts() -> None:
    told = f"context length is {'9' * 5000} tokens; resulted in {'9' * 200} tokens"
    odd = {"n_ctx": HUGE, "n_prompt_tokens": True}
    for error in ({"message": told}, {"message": told, "n_ctx": -1}, {"message": told, **odd}):
        with_huge = json.dumps(error).replace(str(HUGE), "9" * 400)
        fault = await fault_of(replying(400, f'{{"error": {with_huge}}}'))
        assert isinstance(fault, ContextExceeded)
        assert (fault.prompt_tokens, fault.context_tokens) == (None, None)


@pytest.mark.parametrize("error", ["x", ["a"], 7, {"message": ["a"]}, {"code": "x"}, {"code": True, "type": {}}])
async def test_odd_errors(error: object) -> None:
    assert isinstance(await fault_of(replying(200, {"error": error})), EngineFailed)
    assert isinstance(await fault_of(replying(400, {"error": error})), EngineRejected)


async def test_older_vllms_errors() -> None:
    body = {"object": "error", "message": "boom", "type": "BadRequest", "code": 400}
    fault = await fault_of(replying(200, body))
    assert isinstance(fault, EngineRejected)
    assert "boom" in fault.message


@pytest.mark.parametrize("told", ["inf", "nan", "-inf", "1e999", "9" * 5000])
async def test_odd_waits(told: str) -> None:
    fault = await fault_of(replying(429, "busy", {"Retry-After": told}))
    assert isinstance(fault, EngineBusy)
    assert fault.retry_after_s is None


ODD_EVENTS: list[object] = [
    {"choices": [1]},
    {"choices": [{"delta": "str"}]},
    {"choices": [], "usage": "x", "timings": [1]},
    {"choices": [], "usage": {"prompt_tokens": "many", "prompt_tokens_details": {"cached_tokens": "y"}}},
    {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": -5}},
    {"choices": [{"finish_reason": {"a": 1}}]},
    {"choices": {"a": 1}},
    {"choices": None},
    5,
    None,
]


@pytest.mark.parametrize("event", ODD_EVENTS)
async def test_odd_events_leave_nothing_behind(event: object, capfd: pytest.CaptureFixture[str]) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    stop = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    for kind in ENGINES:
        fault = await fault_of(stream_of(stop, event, stop, stop), kind, generate=True)
        assert isinstance(fault, EngineGarbage)
    gc.collect()
    await asyncio.sleep(0)
    assert complaints == []
    assert "Traceback" not in capfd.readouterr().err


async def test_odd_times_in_a_stream_are_not_said() -> None:
    timings = {"prompt_ms": "a", "predicted_ms": NAN, "cache_n": 2}
    done = {"choices": [{"text": "x", "finish_reason": "stop"}], "timings": timings}
    async with adapter(stream_of(done), "llamacpp") as engine:
        said = await engine.generate(REQUEST, max_tokens=4)
    assert (said.prompt_ms, said.decode_ms, said.cached_tokens, said.output_tokens) == (None, None, 2, 1)


async def without_usage(request: web.Request) -> web.StreamResponse:
    if request.path == "/v1/models":
        return web.json_response({"data": [{"id": "m"}]})
    if not request.path.startswith("/v1"):
        return web.json_response({}, status=404)
    if (await request.json()).get("stream"):
        token = {"choices": [{"delta": {"content": "x"}, "finish_reason": "length"}]}
        return await stream_of(token, token, {"choices": [], "usage": None})(request)
    return web.json_response({"choices": [{"message": {"content": "x"}, "finish_reason": "length"}]})


async def test_an_engine_that_counts_nothing() -> None:
    async with answering(without_usage) as url:
        engine = await connect(url)
        info = await engine.describe()
        assert (info.kind, info.reports_cached) == ("openai", False)
        said = await engine.prefill(CHAT, None)
        assert (said.prompt_tokens, said.cached_tokens) == (0, None)
        served = await engine.generate(REQUEST, max_tokens=4)
        assert (served.prompt_tokens, served.cached_tokens, served.output_tokens) == (None, None, 2)
        speed = await calibrate(engine, info)
        assert 0 < speed.cost.prefill_ms_per_token < 10
        await engine.close()


@pytest.mark.parametrize("charset", ["nonsense", "hex", "rot13", "utf-16"])
async def test_odd_charsets(charset: str) -> None:
    headers = {"Content-Type": f"application/json; charset={charset}"}

    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b'{"usage": {"prompt_tokens": 3}}', headers=headers)

    async with adapter(handler) as engine:
        assert (await engine.prefill(CHAT, None)).prompt_tokens == 3
