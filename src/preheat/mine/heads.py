"""What the text up to a place in the tree says: how many bytes, in which message, and whether it ends well.

Marks of the chat formats in use are left out of the count, since every prompt has them; a text without any is one
message.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK = re.compile(
    r"<\|im_start\|>(\w*)\n?|<\|start_header_id\|>(\w*)<\|end_header_id\|>\s*|<\|(system|user|assistant)\|>\s*"
    r"|<start_of_turn>(\w*)\n?|<\|turn>(\w*)\n?|<<(/?SYS)>>\s*|\[/?INST\]\s*|<\uff5c(User|Assistant)\uff5c>"
    r"|<\|im_end\|>\n?|<\|eot_id\|>|<\|begin_of_text\|>|<end_of_turn>\n?|</?s>"
)
_MARK_CHARS = 64
_OPENING = ("system", "developer", "tools", "SYS")
_BOUNDARY = re.compile(r"(?:[\n.:;!?>)\]}|\"'`=。：；！？」』”）】…][ \t]*|\n\s*)\Z")
_TEXT_BYTES, _OPENING_BYTES, _ANY_BYTES = 16, 48, 64


class Head(NamedTuple):
    """Bytes of UTF-8 said ``before`` the message in which the place lies, and ``said`` in it, without marks.

    ``opening`` is the role of that message if it is a system prompt or tool list, which others follow, else empty;
    ``tail`` is the end of the text.
    """

    before: int
    said: int
    opening: str
    tail: str

    def grown(self, text: str) -> Head:
        """The head that ends ``text`` further on."""
        joined = self.tail + text
        before, said, opening, start = self.before, self.said, self.opening, len(self.tail)
        if "<" in joined or "[" in joined:
            for mark in MARK.finditer(joined):
                if mark.end() <= len(self.tail):
                    continue
                before += said + len(joined[start : max(start, mark.start())].encode("utf-8", "surrogatepass"))
                said, start = 0, mark.end()
                if mark.lastindex:
                    opening = mark[mark.lastindex] if mark[mark.lastindex] in _OPENING else ""
                elif mark[0].startswith("["):
                    opening = ""
        said += len(joined[start:].encode("utf-8", "surrogatepass"))
        return Head(before, said, opening, joined[-_MARK_CHARS:])

    def unread(self, chars: int) -> Head:
        """The head that ends ``chars`` further on, where the text was not kept."""
        return Head(self.before, self.said + chars, self.opening, "\n")

    @property
    def total(self) -> int:
        return self.before + self.said

    @property
    def ends_well(self) -> bool:
        """Whether it ends with a sentence, line, field or message."""
        return (self.said == 0 and self.before > 0) or _BOUNDARY.search(self.tail[-8:]) is not None

    @property
    def informative(self) -> bool:
        """Whether it can be a template's head: a prompt may begin with a few common words by chance."""
        if self.before >= _TEXT_BYTES:
            return True
        least = {"": _TEXT_BYTES, "tools": 1}.get(self.opening, _OPENING_BYTES)
        return self.said >= _ANY_BYTES or (self.said >= least and self.ends_well)


EMPTY = Head(0, 0, "", "")
