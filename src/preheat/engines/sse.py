"""Server-sent events, whatever the chunks they arrive in."""

from __future__ import annotations

import re

DONE = "[DONE]"
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\n|\Z)")


class EventParser:
    """Bytes in, the ``data`` of complete events out. Lines may end in LF, CR LF or CR; comments are dropped."""

    def __init__(self) -> None:
        self._rest = b""
        self._searched = 0
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """All events that ``chunk`` completes. Raises ``UnicodeDecodeError`` for what is not UTF-8."""
        self._rest += chunk
        events: list[str] = []
        while end := _LINE_END.search(self._rest, self._searched):
            line, self._rest, self._searched = self._rest[: end.start()], self._rest[end.end() :], 0
            if line:
                self._take(line.decode())
            elif self._data:
                events.append("\n".join(self._data))
                self._data = []
        self._searched = max(0, len(self._rest) - 1)
        return events

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "error":  # llama.cpp has sent its errors as lines of this name
            self._data.append(f'{{"error": {value}}}')
