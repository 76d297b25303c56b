"""The same call a second time: a span exported twice, or one that two instrumentations saw in different exports."""

from __future__ import annotations

from preheat.prompts.chatml import content_text
from preheat.records.request import Request

AGAIN = "a span that was exported before"
SEEN_TWICE = "a call that another span shows too"
_IDS = 1 << 18
_CALLS = 1 << 16


class Repeats:
    """Remembers the spans of one reading, the latest of them only: at least 262,144 ids and 65,536 calls.

    Two spans are of one call when one is the other's parent and both ask the same, whichever was exported first.
    (Within one export, :mod:`preheat.read.nested_calls` tells more, by the times.)
    """

    def __init__(self) -> None:
        self._ids = _Recent(_IDS)
        self._calls = _Recent(_CALLS)
        self._children = _Recent(_CALLS)

    def reason(self, request: Request) -> str | None:
        """Why ``request`` is left out as one that was there before; ``None`` for a new one, which is remembered."""
        if self._ids.had(hash(request.id)):
            return AGAIN
        if request.id == request.source:
            return None
        asked = _asked(request)
        around = self._children.has(hash((request.id, asked)))
        inside = request.parent is not None and self._calls.has(hash((request.parent, asked)))
        self._calls.had(hash((request.id, asked)))
        if request.parent is not None:
            self._children.had(hash((request.parent, asked)))
        return SEEN_TWICE if around or inside else None


def _asked(request: Request) -> int:
    """The texts of the prompt, in whatever form and roles they were written."""
    if request.prompt is not None:
        return hash((request.prompt,))
    return hash(tuple(content_text(message.content) for message in request.messages))


class _Recent:
    """A set that forgets: when it is full, the older half goes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._new = set[int]()
        self._old = set[int]()

    def has(self, key: int) -> bool:
        return key in self._new or key in self._old

    def had(self, key: int) -> bool:
        """Whether ``key`` was there; it is from now on."""
        if self.has(key):
            return True
        if len(self._new) >= self._size:
            self._old, self._new = self._new, set()
        self._new.add(key)
        return False
