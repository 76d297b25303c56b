"""Server-sent events, whatever the chunks they arrive in."""

from __future__ import annotations

import re

DONE = "[DONE]"
LONGEST_EVENT_BYTES = 8 * 2**20
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\n|\Z)")


class EventTooLong(ValueError):
    """A line, or the lines of one event, hold more than :data:`LONGEST_EVENT_BYTES`."""


class EventParser:
    """Bytes in, the ``data`` of complete events out. Lines may end in LF, CR LF or CR; comments are dropped.

    Takes time linear in the bytes, however they are cut.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0
        self._data: list[str] = []
        self._data_bytes = 0

    def feed(self, chunk: bytes) -> list[str]:
        """All events that ``chunk`` completes.

        Raises ``UnicodeDecodeError`` for what is not UTF-8 and :class:`EventTooLong`.
        """
        self._rest += chunk
        events: list[str] = []
        begin = 0
        while end := _LINE_END.search(self._rest, max(begin, self._searched)):
            line, begin = self._rest[begin : end.start()], end.end()
            if line:
                self._take(line)
            elif self._data:
                events.append("\n".join(self._data))
                self._data, self._data_bytes = [], 0
        del self._rest[:begin]
        self._searched = max(0, len(self._rest) - 1)
        if len(self._rest) > LONGEST_EVENT_BYTES:
            raise EventTooLong
        return events

    def _take(self, line: bytearray) -> None:
        if self._data_bytes + len(line) > LONGEST_EVENT_BYTES:
            raise EventTooLong
        name, _, value = line.decode().partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "error":  # llama.cpp has sent its errors as lines of this name
            self._data.append(f'{{"error": {value}}}')
        else:
            return
        self._data_bytes += len(line) + 1
