"""The sandbox's chat template: ChatML, as a model's own Jinja template would say it."""

from __future__ import annotations

from functools import cache

from preheat.prompts.render import Renderer, renderer_for
from preheat.records.rendering import Rendering
from preheat.records.request import Request

CHATML_TEMPLATE = (
    "{% if tools %}{{ '<|im_start|>tools\\n' }}"
    "{% for tool in tools %}"
    "{{ tool | tojson(separators=(',', ':')) }}{% if not loop.last %}{{ '\\n' }}{% endif %}"
    "{% endfor %}{{ '<|im_end|>\\n' }}{% endif %}"
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] }}"
    "{% if message['tool_calls'] %}{{ message['tool_calls'] | tojson(separators=(',', ':')) }}{% endif %}"
    "{{ '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""A message is ``<|im_start|>ROLE, newline, CONTENT<|im_end|>, newline``; the generation prompt opens the next."""


def prompt_text(request: Request, add_generation_prompt: bool = True) -> str:
    """The text that the sandbox makes of a request: its prompt, or its chat under :data:`CHATML_TEMPLATE`.

    Raises :class:`preheat.prompts.render.PromptNotRenderable`.
    """
    return _renderer().render(request, add_generation_prompt)


@cache
def _renderer() -> Renderer:
    return renderer_for(Rendering(name="sandbox-chatml", source="sandbox", template=CHATML_TEMPLATE))
