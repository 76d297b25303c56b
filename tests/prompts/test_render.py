"""Rendering with a model's own template."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from preheat.errors import BadInput
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
