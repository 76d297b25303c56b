"""Rendering requests to the text that an engine would see: by our default form, or by a Jinja chat template."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NoReturn, Protocol

import jinja2
import jinja2.ext
import msgspec
from jinja2 import nodes

from preheat.errors import BadInput
from preheat.prompts import chatml
from preheat.prompts.bounded import BoundedEnvironment, Endless
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request


class PromptNotRenderable(BadInput):
    """The template refuses this one request (say, roles that do not alternate). Count it and go on."""


class Renderer(Protocol):
    """Turns requests into text, always the same way.

    The text of a request that its log cut (``truncated``) ends with what is known of its last message's content:
    without the marker that would end the message, and without a generation prompt. It is a prefix, never a prompt.
    """

    @property
    def rendering(self) -> Rendering: ...

    def render(self, request: Request, add_generation_prompt: bool = True) -> str:
        """The prompt as text. Raises :class:`PromptNotRenderable`."""
        ...


def renderer_for(rendering: Rendering) -> Renderer:
    """The renderer of ``rendering``. Raises :class:`BadInput` for a template that does not compile."""
    return ChatMLRenderer(rendering) if rendering.template is None else TemplateRenderer(rendering)


class ChatMLRenderer:
    """The stated default."""

    def __init__(self, rendering: Rendering) -> None:
        self.rendering = rendering

    def render(self, request: Request, add_generation_prompt: bool = True) -> str:
        _refuse_silence(request)
        try:
            return chatml.render(request, add_generation_prompt)
        # Tools and tool calls are whatever JSON a log holds.
        except (RecursionError, ValueError, OverflowError) as error:
            raise PromptNotRenderable(f"{request.source or request.id} cannot be rendered: {error}") from error


def _refuse_silence(request: Request) -> None:
    """A trace may hold no text at all: nothing that a template would make of that was ever asked."""
    if not request.messages and request.prompt is None and not request.truncated:
        kind = "arrivals" if request.blocks is None else "block ids"
        raise PromptNotRenderable(f"{request.source or request.id}: no text: a trace of {kind}")


class TemplateRenderer:
    """A Hugging Face chat template, compiled once, in Jinja's immutable sandbox.

    What the template sees follows ``transformers.apply_chat_template``; as engines do, absent content becomes
    an empty string (llama.cpp), tool-call arguments that are JSON text become objects (vLLM), and a list of
    text parts is joined unless the template walks through it by itself. ``strftime_now`` is today's date: a
    template that prints it has prompts that are good for one day.
    """

    def __init__(self, rendering: Rendering) -> None:
        self.rendering = rendering
        source = rendering.template or ""
        self._environment = _environment()
        try:
            tree = self._environment.parse(source)
            self._walks_parts = _walks_parts(tree)
            self._template = self._environment.from_string(self._environment.counted(tree))
        except (jinja2.TemplateError, RecursionError, SyntaxError, ValueError, OverflowError, MemoryError) as error:
            raise BadInput(
                f"the chat template of {rendering.source} does not compile: {error}",
                "give the model's own template, or none to use preheat-chatml",
            ) from error

    def render(self, request: Request, add_generation_prompt: bool = True) -> str:
        if request.prompt is not None:
            return request.prompt
        _refuse_silence(request)
        if request.truncated:
            return self._render_cut(request)
        return self._render(request, request.messages, add_generation_prompt)

    def _render_cut(self, request: Request) -> str:
        """What two ways of going on with the last message have in common, whatever the template makes of it."""
        if not request.messages:
            return ""
        *whole, last = request.messages
        a, b = (self._render(request, [*whole, _going_on(last, more)], False) for more in ("a", "b"))
        if a == b:
            where = request.source or request.id
            raise PromptNotRenderable(f"{where}: the log cut it in a message whose content the template leaves out")
        return a[: next((n for n, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), len(a))]

    def _render(self, request: Request, messages: Sequence[Message], add_generation_prompt: bool) -> str:
        self._environment.begin()
        try:
            return self._template.render(
                _switches(request),
                messages=[self._message(message) for message in messages],
                tools=request.tools,
                add_generation_prompt=add_generation_prompt,
                bos_token=self.rendering.bos_token,
                eos_token=self.rendering.eos_token,
            )
        except Endless as error:
            raise BadInput(
                f"the chat template does not end: {self.rendering.source}, at {request.source or request.id}",
                "give the model's own template, or none to use preheat-chatml",
            ) from error
        # A template is somebody's program: it may fail in any way on a request that it was not made for.
        except Exception as error:
            raise PromptNotRenderable(f"{request.source or request.id}: the template refuses it: {error}") from error

    def _message(self, message: Message) -> dict[str, Any]:
        content = message.content
        if not isinstance(content, str) and not (content and self._walks_parts):
            content = chatml.content_text(content)
        plain: dict[str, Any] = {"role": message.role, "content": content}
        if message.tool_calls:
            plain["tool_calls"] = [_with_object_arguments(call) for call in message.tool_calls]
        if message.name is not None:
            plain["name"] = message.name
        if message.tool_call_id is not None:
            plain["tool_call_id"] = message.tool_call_id
        return plain


def _switches(request: Request) -> dict[str, Any]:
    """What the caller set for the template (``enable_thinking`` and the like), as vLLM and llama.cpp pass it on."""
    if request.sampling is None:
        return {}
    given = request.sampling.get("chat_template_kwargs")
    switches = {name: value for name, value in given.items() if type(name) is str} if isinstance(given, dict) else {}
    effort = request.sampling.get("reasoning_effort")
    if isinstance(effort, str):
        switches = {"enable_thinking": effort != "none", **switches, "reasoning_effort": effort}
    return switches


def _going_on(message: Message, more: str) -> Message:
    """``message`` with ``more`` at the end of its content."""
    content = message.content or ""
    longer = [*content, {"type": "text", "text": more}] if isinstance(content, list) else content + more
    return msgspec.structs.replace(message, content=longer)


def _with_object_arguments(call: Any) -> Any:
    """OpenAI's wire has a tool call's arguments as JSON text; templates expect the object (as vLLM gives it)."""
    function = call.get("function") if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(arguments, str):
        return call
    try:
        decoded = msgspec.json.decode(arguments) if arguments else {}
    except (msgspec.DecodeError, UnicodeDecodeError):
        return call
    if not isinstance(decoded, dict):
        return call
    return {**call, "function": {**function, "arguments": decoded}}


def _walks_parts(tree: nodes.Template) -> bool:
    """Whether the template has a loop over a message's content, so that it takes lists of parts."""
    return any(_names_content(loop.iter) for loop in tree.find_all(nodes.For))


def _names_content(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter) and node.node is not None:
        return _names_content(node.node)
    if isinstance(node, nodes.Name):
        return node.name == "content"
    if isinstance(node, nodes.Getattr):
        return node.attr == "content"
    return isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and node.arg.value == "content"


def _environment() -> BoundedEnvironment:
    """Jinja set up as ``transformers`` (utils/chat_template_utils.py) sets it up for chat templates."""
    environment = BoundedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


class _Generation(jinja2.ext.Extension):
    """``{% generation %}…{% endgeneration %}``: marks what the assistant says; rendered as if it were not there."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


def _tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)
