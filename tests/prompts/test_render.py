"""Rendering with a model's own template."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.errors import BadInput
from preheat.prompts import bounded
from preheat.prompts.render import PromptNotRenderable, renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request

CHATML = (
    "{%- for message in messages -%}\n"
    "    {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
CHAT = Request(id="1", messages=(Message(role="system", content="S"), Message(role="user", content="U")))


def _render(template: str, request: Request = CHAT, **tokens: Any) -> str:
    return renderer_for(Rendering(template=template, **tokens)).render(request)


def _asked(content: Any = "U", **fields: Any) -> Request:
    return Request(id="1", messages=(Message(role="user", content=content, **fields),))


def test_the_default_and_the_same_as_a_template_agree() -> None:
    for add in (True, False):
        default = renderer_for(Rendering()).render(CHAT, add)
        assert renderer_for(Rendering(template=CHATML)).render(CHAT, add) == default


def test_a_completion_prompt_renders_as_itself() -> None:
    assert _render(CHATML, Request(id="1", prompt="raw")) == "raw"


def test_special_tokens_blocks_and_loop_controls() -> None:
    template = (
        "{{ bos_token }}\n{% for m in messages %}\n    {% if loop.index > 1 %}\n{% break %}\n    {% endif %}\n"
        "{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}{{ eos_token }}"
    )
    assert _render(template, bos_token="<s>", eos_token="</s>") == "<s>\nS</s>"


def test_tojson_keeps_characters_and_order() -> None:
    request = Request(id="1", messages=CHAT.messages, tools=[{"name": "é<&'", "a": 1}])
    assert _render("{{ tools | tojson }}", request) == '[{"name": "é<&\'", "a": 1}]'
    assert _render("{{ tools[0] | tojson(indent=1) }}", request) == '{\n "name": "é<&\'",\n "a": 1\n}'


def test_today_is_today() -> None:
    assert _render("{{ strftime_now('%Y') }}") == str(datetime.now().year)


@pytest.mark.parametrize("template", ["{{ raise_exception('roles must alternate') }}", "{{ messages[9].content.x }}"])
def test_a_template_that_refuses_a_request_is_a_typed_error(template: str) -> None:
    with pytest.raises(PromptNotRenderable, match="the template refuses it") as caught:
        _render(template, Request(id="1", messages=CHAT.messages, source="log.jsonl:7"))
    assert "log.jsonl:7" in str(caught.value)


@pytest.mark.parametrize("attack", ["{{ messages.append(1) }}", "{{ ''.__class__.__mro__[1].__subclasses__() }}"])
def test_templates_are_somebody_elses_programs(attack: str) -> None:
    with pytest.raises(PromptNotRenderable):
        _render(attack)


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}x",
        "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}x",
        "{% set long = range(99999) | list %}{% for i in long %}{% for j in long %}{% endfor %}{% endfor %}",
        "{% for i in range(60) recursive %}{% if loop.depth < 9 %}{{ loop(range(60)) }}{% endif %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% for i in range(9999) %}{{ 'x' * 99999 }}{% endfor %}",
        "{{ 'x' * 10 ** 12 }}",
        "{{ 10 ** 12 * 'x' }}",
        "{{ 9 ** (9 ** 9) }}",
        "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s=3) %}{% for i in range(60) %}{% set ns.s = ns.s * ns.s %}{% endfor %}",
    ],
)
def test_a_template_that_does_not_end_is_stopped(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 2.0)
    started = time.process_time()
    with pytest.raises(BadInput, match="the chat template does not end") as caught:
        _render(template, Request(id="1", messages=CHAT.messages, source="log.jsonl:7"))
    assert not isinstance(caught.value, PromptNotRenderable)
    assert time.process_time() - started < 10


def test_slow_steps_are_stopped_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 0.2)
    template = "{% for i in range(99999) %}{% set x = ('é' * 99999) | list %}{{ x | tojson | length }}{% endfor %}"
    with pytest.raises(BadInput, match="does not end"):
        _render(template)


def test_the_bounds_are_those_of_one_rendering() -> None:
    renderer = renderer_for(
        Rendering(template="{% for i in range(90000) %}{% endfor %}{{ 2 + 3 * 2 ** 2 }}{{ 'a' + 'b' }}")
    )
    assert {renderer.render(CHAT) for _ in range(60)} == {"14ab"}


def test_loops_know_where_they_are() -> None:
    template = (
        "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% endfor %}"
        "{% for m in [] %}x{% else %}none{% endfor %}{% macro f(a) %}<{{ a }}{{ caller() }}>{% endmacro %}"
        "{% call f(1) %}c{% endcall %}"
    )
    assert _render(template) == "1/2False 2/2True none<1c>"


def test_tools_that_cannot_be_written_as_json_are_not_renderable() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PromptNotRenderable):
        renderer_for(Rendering()).render(Request(id="1", messages=CHAT.messages, tools=[deep]))
    while isinstance(deep, list):
        (deep,) = deep


def test_a_template_that_does_not_compile_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"model\.jinja does not compile"):
        renderer_for(Rendering(template="{% for %}", source="model.jinja"))


def test_parts_are_joined_unless_the_template_walks_them() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}]
    assert _render("{{ messages[0].content }}", _asked(parts)) == "a[image_url]"
    walks = (
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for part in m['content'] %}({{ part.type }}){% endfor %}{% endif %}{% endfor %}"
    )
    assert _render(walks, _asked(parts)) == "(text)(image_url)"
    assert _render(walks, _asked("text")) == "text"


def test_absent_content_is_empty_and_absent_fields_are_absent() -> None:
    assert _render("[{{ messages[0].content }}]{{ messages[0].tool_calls is defined }}", _asked(None)) == "[]False"


@pytest.mark.parametrize(
    ("arguments", "shown"), [('{"x": 1}', '{"x": 1}'), ("", "{}"), ("not json", '"not json"'), ({"x": 2}, '{"x": 2}')]
)
def test_tool_call_arguments_become_objects(arguments: Any, shown: str) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
    request = _asked(None, tool_calls=[call])
    assert _render("{{ messages[0].tool_calls[0].function.arguments | tojson }}", request) == shown
    assert call["function"] == {"name": "f", "arguments": arguments}


# --- requests that their log cut

_TRIMS = (
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}"
    "{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}</s>{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
_AS_JSON = "{{ messages | tojson }}{% if tools %}{{ tools | tojson }}{% endif %}"


@pytest.mark.parametrize("template", [None, CHATML, _TRIMS, _AS_JSON])
@given(
    contents=st.lists(st.text(st.sampled_from('ab \n"<é我'), max_size=8), min_size=1, max_size=3),
    rest=st.text(st.sampled_from("xyz \n"), min_size=1, max_size=8),
    more=st.lists(st.text(max_size=5), max_size=2),
)
@settings(max_examples=60)
def test_a_cut_request_is_a_prefix_of_whatever_it_was(
    template: str | None, contents: list[str], rest: str, more: list[str]
) -> None:
    renderer = renderer_for(Rendering(template=template, bos_token="<s>"))

    def chat(texts: list[str], **fields: Any) -> Request:
        return Request(id="1", messages=tuple(Message(role="user", content=text) for text in texts), **fields)

    cut = renderer.render(chat(contents, truncated=True))
    whole = renderer.render(chat([*contents[:-1], contents[-1] + rest, *more]))
    assert whole.startswith(cut.rstrip() if template == _TRIMS and not rest.strip() else cut)
    assert contents[-1].strip() in cut or template == _AS_JSON
    assert not cut.endswith(("<|im_end|>\n", "<|im_start|>assistant\n", "</s>", "[assistant]", '"}]'))


def test_a_cut_request_shows_all_that_is_known_of_it() -> None:
    parts: list[Any] = [{"type": "text", "text": "the cap"}]
    request = Request(id="1", truncated=True, messages=(CHAT.messages[0], Message(role="user", content=parts)))
    for template in (None, CHATML):
        rendered = renderer_for(Rendering(template=template)).render(request)
        assert rendered == "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nthe cap"
    assert _render(CHATML, Request(id="1", truncated=True, prompt="raw")) == "raw"
    assert _render(CHATML, Request(id="1", truncated=True)) == ""
    assert renderer_for(Rendering()).render(Request(id="1", truncated=True, tools=[1])) == ""


def test_a_cut_message_that_the_template_leaves_out_tells_nothing() -> None:
    request = Request(id="1", truncated=True, messages=CHAT.messages, source="log.jsonl:7")
    with pytest.raises(PromptNotRenderable, match=r"log\.jsonl:7: the log cut it"):
        _render("{{ messages[0].content }}", request)


@pytest.mark.parametrize(
    ("sampling", "shown"),
    [
        (None, "-"),
        ({"top_p": 0.5, "chat_template_kwargs": None}, "-"),
        ({"chat_template_kwargs": {"enable_thinking": False}}, "False"),
        ({"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "high"}, "False high"),
        ({"reasoning_effort": "none"}, "False none"),
        ({"reasoning_effort": 3, "chat_template_kwargs": "x"}, "-"),
        ({"chat_template_kwargs": {"messages": [], "reasoning_effort": "low"}}, "- low"),
    ],
)
def test_the_callers_switches_reach_the_template(sampling: Any, shown: str) -> None:
    template = "{{ enable_thinking | default('-') }}{% if reasoning_effort %} {{ reasoning_effort }}{% endif %}"
    request = Request(id="1", messages=CHAT.messages, sampling=sampling)
    assert _render(template, request) == shown
    assert _render("{{ messages | length }}", request) == "2"
