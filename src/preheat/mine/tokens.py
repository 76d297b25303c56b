"""A finished profile's tokens, counted by a model's own tokenizer: each distinct edge once, not each request.

Tokenizers split text into words before anything else, and no token spans two of them. So an edge is counted from the
last beginning of a word before it on: the tokens of *that much of the parent's text and the edge*, less the tokens of
*that much of the parent's text*. Over a path the differences add up to the tokens of the whole prefix. Where no
beginning of a word stands within the last 256 characters, as in one long run of digits or of Chinese without
punctuation, what is begun with is the last 64 characters, and the sum can be off by a token or two for each such edge.

What was asked for once is most of the text and hardly ever planned: of those edges one in sixteen is counted, for the
characters per token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from preheat.records.profile import Profile

Counts = Callable[[Sequence[str]], list[int]]
"""How many tokens each text has, without special ones added."""

_LOOK_BACK_CHARS = 256
_LOOK_BEFORE_CHARS = 40
"""Not so near to the edge, so that a special token that is begun there is whole."""
_NO_WORD_CHARS = 64
_WORD = re.compile(r"(?<=[^\W\d_])(?=[^\w\r\n][^\W\d_])")
"""Where a word begins with the blank or sign in front of it: there every way of splitting that is in use splits."""
_AT_ONCE_CHARS = 1 << 20
_SAMPLE_CHARS = 1 << 21
_ONE_IN = 16
_Edge = tuple[int, str, str]
"""A node's number, the text before its own that it is counted with, and its own."""


def count_tokens(profile: Profile, counts: Counts, tokenizer: str = "", least: int = 2) -> Profile:
    """``profile`` with ``tokens`` for every node asked for ``least`` times, and characters per token of all its text.

    Nodes whose text (up to the root) the profile has not kept are left as they are.
    """
    nodes = list(profile.nodes)
    chars = tokens = 0
    rare_chars = sampled_chars = sampled_tokens = 0
    common: list[_Edge] = []
    sample: list[_Edge] = []
    for edge in _edges(profile):
        if nodes[edge[0]].count >= least:
            common.append(edge)
            continue
        rare_chars += len(edge[2])
        if edge[0] % _ONE_IN == 0:
            sample.append(edge)
    for number, length, more in _counted(common, counts):
        nodes[number] = structs.replace(nodes[number], tokens=more)
        chars, tokens = chars + length, tokens + more
    for _, length, more in _counted(sample, counts):
        sampled_chars, sampled_tokens = sampled_chars + length, sampled_tokens + more
    if sampled_chars:
        chars, tokens = chars + rare_chars, tokens + round(sampled_tokens * rare_chars / sampled_chars)
    return structs.replace(profile, nodes=nodes, chars_per_token=_ratio(chars, tokens), tokenizer=tokenizer)


def sample_tokens(profile: Profile, counts: Counts, tokenizer: str = "") -> Profile:
    """``profile`` with characters per token alone, by the most used edges, of 2 M characters together at most.

    For a tokenizer that is asked over a network.
    """
    texts: list[str] = []
    chars = 0
    for node in sorted(profile.nodes, key=lambda node: (-node.count, node.hash)):
        text = node.text or ""
        if text and chars + len(text) <= _SAMPLE_CHARS:
            texts.append(text)
            chars += len(text)
    tokens = sum(counts(texts)) if texts else 0
    return structs.replace(profile, chars_per_token=_ratio(chars, tokens), tokenizer=tokenizer)


def _ratio(chars: int, tokens: int) -> float | None:
    return round(chars / tokens, 4) if tokens else None


def _edges(profile: Profile) -> Iterator[_Edge]:
    """Those whose text is known up to the root, in order."""
    parents = {node.parent for node in profile.nodes}
    tails = {-1: ""}
    for number, node in enumerate(profile.nodes):
        before = tails.get(node.parent)
        if node.text is None or before is None:
            continue
        if number in parents:
            tails[number] = (before + node.text)[-_LOOK_BACK_CHARS:]
        yield number, _head(before), node.text


def _head(before: str) -> str:
    """The end of ``before`` that the tokens of what follows can depend on."""
    starts = [match.start() for match in _WORD.finditer(before, 0, max(0, len(before) - _LOOK_BEFORE_CHARS))]
    return before[starts[-1] :] if starts else before[-_NO_WORD_CHARS:]


def _counted(edges: list[_Edge], counts: Counts) -> Iterator[tuple[int, int, int]]:
    """A node's number, the length of its text, its tokens."""
    for some in _together(edges):
        heads = list(dict.fromkeys(head for _, head, _ in some))
        found = counts(heads + [head + text for _, head, text in some])
        of_head = dict(zip(heads, found, strict=False))
        for (number, head, text), total in zip(some, found[len(heads) :], strict=True):
            yield number, len(text), max(0, total - of_head[head])


def _together(edges: list[_Edge]) -> Iterator[list[_Edge]]:
    """In lists of about a million characters."""
    some: list[_Edge] = []
    chars = 0
    for edge in edges:
        some.append(edge)
        chars += len(edge[1]) + len(edge[2])
        if chars >= _AT_ONCE_CHARS:
            yield some
            some, chars = [], 0
    if some:
        yield some
