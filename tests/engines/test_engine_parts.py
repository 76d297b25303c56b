"""The parts that adapters are made of: events, metrics, boundaries, bodies."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.engines.boundary import common_prefix, continued_chats, continued_texts, shared_tokens
from preheat.engines.exposition import samples, summed
from preheat.engines.payload import Chat, chat_of, request_body, with_nonce
from preheat.engines.sse import EventParser
from preheat.engines.vllm import _bytes_per_token, _cache_config
from preheat.errors import EngineRejected
from preheat.prompts.chatml import render_messages
from preheat.records.rendering import Prefix, Rendering
from preheat.records.request import Message, Request

STREAM = 'data: {"a": "é"}\n\n: a comment\nevent: x\ndata: one\ndata: two\n\ndata:[DONE]\n\n'
TEMPLATE = Rendering(name="t", source="here", template="{{ messages }}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@given(cuts=st.lists(st.integers(0, 80), max_size=6))
def test_events_do_not_depend_on_chunks(end: str, cuts: list[int]) -> None:
    raw = STREAM.replace("\n", end).encode() + b"\n"
    edges = sorted({min(cut, len(raw)) for cut in cuts} | {0, len(raw)})
    parser = EventParser()
    events = [event for a, b in pairwise(edges) for event in parser.feed(raw[a:b])]
    assert events == ['{"a": "é"}', "one\ntwo", "[DONE]"]


def test_metrics_are_summed_over_labels() -> None:
    text = (
        "# HELP x_total what\n# TYPE x_total counter\n"
        'x_total{engine="0",name="a b, \\"c\\""} 2.0\nx_total{engine="1"} 3 1700000000\n'
        'h_bucket{le="+Inf"} 7\nh_sum 1.5\nh_count 7\nx_created 1e9\nnan_total NaN\nnonsense\ny zero\n'
    )
    assert summed(text) == {"x_total": 5.0, "h_sum": 1.5, "h_count": 7.0}
    assert samples(text)[0][1]["engine"] == "0"


def test_vllms_cache_configuration() -> None:
    line = (
        'vllm:cache_config_info{block_size="32",enable_prefix_caching="True",kv_cache_memory_bytes="1073741824",'
        'kv_cache_size_tokens="262144",num_gpu_blocks="8192",num_gpu_blocks_override="None"} 1.0\n'
    )
    config = _cache_config(line)
    assert (config["block_size"], config["num_gpu_blocks"]) == (32, 8192)
    assert _bytes_per_token(config) == 4096.0
    forced = line.replace('override="None"', 'override="80"')
    assert _bytes_per_token(_cache_config(forced)) is None
    assert _cache_config("") == {}


@given(st.lists(st.lists(st.integers(0, 2), max_size=8), max_size=4))
def test_common_prefix(sequences: list[list[int]]) -> None:
    shared = common_prefix(sequences)
    assert all(ids[: len(shared)] == shared for ids in sequences)
    if sequences and all(len(ids) > len(shared) for ids in sequences):
        assert len({ids[len(shared)] for ids in sequences}) > 1 or len(sequences) == 1 or not sequences


class WordTokenizer:
    """Tokens are special markers, words with their leading space, runs of signs, and white space: like byte-pair
    encodings, it looks at no more than the run of characters in which a token stands."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self.under_way = self.most_under_way = 0

    def ids(self, text: str) -> list[int]:
        pieces = re.findall(r"<\|[a-z_]+\|>| ?\w+| ?[^\w\s]+|\s+(?!\S)|\s+", text)
        return [self.vocabulary.setdefault(piece, len(self.vocabulary)) for piece in pieces]

    async def text_ids(self, prefix: Prefix, text: str) -> list[int]:
        return self.ids(text)

    async def chat_ids(self, chat: Chat) -> list[int]:
        roles = [message["role"] for message in chat.messages]
        if any(a == b for a, b in pairwise(roles)):
            raise EngineRejected("roles must alternate")
        return self.ids(render_messages([Message(m["role"], m["content"]) for m in chat.messages], chat.tools))


TEXTS = st.text(alphabet="ab1 .\n<|>_", min_size=1, max_size=30)


@given(TEXTS, TEXTS)
async def test_shared_tokens_begin_any_continuation(text: str, more: str) -> None:
    tokenizer = WordTokenizer()
    (shared,) = await shared_tokens(tokenizer, [Prefix(text, TEMPLATE)], 4)
    assert tokenizer.ids(text + more)[: len(shared)] == shared


@given(st.text(alphabet="ab .\n", min_size=1, max_size=30), st.integers(0, 200))
async def test_shared_tokens_of_the_default_rendering(content: str, cut: int) -> None:
    tokenizer = WordTokenizer()
    whole = render_messages([Message("system", content), Message("user", "x " * 20)])
    (shared,) = await shared_tokens(tokenizer, [Prefix(whole[: max(1, cut)], Rendering())], 4)
    assert tokenizer.ids(whole)[: len(shared)] == shared


async def test_at_most_a_word_is_given_up() -> None:
    tokenizer = WordTokenizer()
    text = "<|im_start|>system\nYou are the desk of a small shop and you never promise a refun"
    (shared,) = await shared_tokens(tokenizer, [Prefix(text, TEMPLATE)], 4)
    assert len(shared) == len(tokenizer.ids(text)) - 1


def test_a_marker_cut_in_two_is_never_counted() -> None:
    assert any("<|im_" not in text for text in continued_texts("Hello<|im_"))
    assert continued_texts("")


def test_chats_go_on_in_turn() -> None:
    user, system = {"role": "user", "content": "Hi"}, {"role": "system", "content": "Be"}
    assert [c.messages[-1]["role"] for c in continued_chats(Chat([user]))] == ["assistant", "assistant", "user"]
    for chat in continued_chats(Chat([system], complete=False)):
        roles = [message["role"] for message in chat.messages]
        assert roles[0] == "system"
        assert roles[-1] == "user"
        assert all(a != b for a, b in pairwise(roles))
    assert all(chat.tools and len(chat.tools) == 2 for chat in continued_chats(Chat([], [{"x": 1}], complete=False)))
    assert all(chat.tools == [{"x": 1}] for chat in continued_chats(Chat([], [{"x": 1}])))


@pytest.mark.parametrize(
    ("cut", "ended"),
    [("<|im_start|>system\nBe", False), ("<|im_start|>system\nBe<|im_end|>\n", True),
     ("<|im_start|>system\nBe<|im_end|>\n<|im_st", True), ("<|im_start|>system\nBe<|im_end|>\n<|im_start|>us", True),
     ("<|im_start|>system\nBe<|im_end|>\n<|im_start|>user\n", False), ("<|im_start|>system\nBe<|im_e", False)],
)  # fmt: skip
def test_whether_the_last_message_has_ended(cut: str, ended: bool) -> None:
    chat = chat_of(Prefix(cut, Rendering()))
    assert chat is not None
    assert chat.complete is ended


def test_text_that_is_no_chat_stays_text() -> None:
    assert chat_of(Prefix("Once upon a time", Rendering())) is None
    assert chat_of(Prefix("<|im_start|>user\nHi", TEMPLATE)) is None


def test_bodies() -> None:
    parts = [{"type": "text", "text": "Hi"}]
    request = Request(id="r", messages=(Message("user", parts),), tools=[{"x": 1}], temperature=0.5)
    body = request_body(request, model="m", max_tokens=7)
    assert body["messages"] == [{"role": "user", "content": parts}]
    assert (body["tools"], body["temperature"], body["max_tokens"], body["stream"]) == ([{"x": 1}], 0.5, 7, True)
    assert with_nonce(body, "n")["messages"][0]["content"] == [{"type": "text", "text": "[n] "}, *parts]
    assert body["messages"][0]["content"] == parts
    completion = request_body(Request(id="r", prompt="Hi"), model="m", max_tokens=7)
    assert "messages" not in completion
    assert with_nonce(completion, "n")["prompt"] == "[n] Hi"
    silent = request_body(Request(id="r", messages=(Message("assistant"),)), model="m", max_tokens=7)
    assert with_nonce(silent, "n")["messages"][0]["content"] == "[n] "
