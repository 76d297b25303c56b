"""How prompts became text: needed wherever a rendered prefix is turned back into an engine's tokens."""

from __future__ import annotations

import msgspec

DEFAULT_RENDERING_NAME = "preheat-chatml"


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """The template under which prompts were rendered.

    ``template`` is the Jinja source (``None`` for the stated default, which is our own ChatML form and can be
    parsed back into messages); ``source`` says where it came from: ``default``, ``engine URL`` or ``FILE``.
    """

    name: str = DEFAULT_RENDERING_NAME
    source: str = "default"
    template: str | None = None
    bos_token: str = ""
    eos_token: str = ""

    @property
    def is_default(self) -> bool:
        return self.template is None


class Prefix(msgspec.Struct, frozen=True):
    """A rendered prompt prefix, and how it was rendered."""

    text: str
    rendering: Rendering
