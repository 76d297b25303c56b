"""Jinja's sandbox with an end: a chat template is somebody's program, and one that loops for ever must not stop us.

Every turn of a loop and every call of a macro is a step; steps, processor time and the size of a text are bounded per
rendering. What one call of a string method makes of a large argument is not (Jinja's own sandbox does not bound it).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from jinja2 import nodes
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range

STEPS = 5_000_000
"""Of one rendering; a template that looks back at all messages from each of 2000 takes 4 million."""
SECONDS = 5.0
"""Processor time of one rendering; a usual one takes less than a millisecond."""
LONGEST = 1 << 26
"""No text or list that a template makes may be longer, in characters or elements."""
LONGEST_BITS = 1 << 16
"""Nor a whole number."""
_CLOCK_EVERY = 256
_SIZED = (str, list, tuple, bytes)
_OF_LOOPS = frozenset({"first", "last", "index", "index0", "revindex", "revindex0", "length", "previtem", "nextitem"})


class Endless(Exception):
    """The template went over its bounds."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """One environment per template; :meth:`begin` before each rendering."""

    intercepted_binops = frozenset({"+", "*", "**"})

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.globals["range"] = self._range
        self.globals.pop("lipsum", None)
        self.begin()

    def begin(self) -> None:
        """Set the bounds for one rendering."""
        self._left = STEPS
        self._until_s = time.thread_time() + SECONDS

    @property
    def step(self) -> None:
        """Count one step. A property, since that is the cheapest thing that a compiled template can do."""
        self._left -= 1
        if self._left % _CLOCK_EVERY == 0 and (self._left <= 0 or time.thread_time() > self._until_s):
            raise Endless

    def counted(self, source: nodes.Template) -> nodes.Template:
        """``source`` with a step at the beginning of every loop's and every macro's body."""
        for node in list(source.find_all((nodes.For, nodes.Macro, nodes.CallBlock))):
            step = nodes.EnvironmentAttribute("step", lineno=node.lineno)
            node.body.insert(0, nodes.ExprStmt(step, lineno=node.lineno))  # type: ignore[attr-defined]
        source.set_environment(self)
        return source

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """A loop says where it is, in nearly every line of a template: known to be safe, so told at once."""
        if obj.__class__ is LoopContext and attr in _OF_LOOPS:
            return True
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Products and powers that would be too long are refused before they are made, sums after."""
        if operator == "+":  # in every template, many times; of two that are in bounds it can be made
            total = left + right
            if isinstance(total, _SIZED) and len(total) > LONGEST:
                raise Endless
            return total
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * abs(right) if operator == "**" else left.bit_length() + right.bit_length()
            if bits > LONGEST_BITS:
                raise Endless
        elif operator == "*" and _times(left, right) > LONGEST:
            raise Endless
        return super().call_binop(context, operator, left, right)

    @staticmethod
    def concat(pieces: Iterable[str]) -> str:
        """What Jinja joins its output with."""
        pieces = list(pieces)
        if sum(map(len, pieces)) > LONGEST:
            raise Endless
        return "".join(pieces)

    def _range(self, *args: int) -> range:
        found = safe_range(*args)
        self._left -= len(found)
        if self._left <= 0:
            raise Endless
        return found


def _times(left: Any, right: Any) -> int:
    """How long a text or list repeated will be; 0 for what has no length."""
    if isinstance(left, _SIZED) and isinstance(right, int):
        return len(left) * right
    return left * len(right) if isinstance(left, int) and isinstance(right, _SIZED) else 0
