"""One prompt walked through a profile's tree: what had been seen of it before, and where and why that ends."""

from __future__ import annotations

from dataclasses import dataclass

from preheat.blocks.digests import DIGEST_BYTES, id_digests, ids_as_text, text_digests
from preheat.mine.difference import Difference, whole_words
from preheat.mine.resync import common_chars
from preheat.mine.shares import TIME_DIGITS
from preheat.prompts.parting import apart
from preheat.prompts.redaction import excerpt, redact, tail_excerpt
from preheat.records.explanation import Divergence, Explanation, Segment
from preheat.records.profile import Node, Profile
from preheat.records.request import Request
from preheat.records.target import ASSUMED_CHARS_PER_TOKEN

_SHOWN = 100
_BEFORE_CHARS = 512
_REDACTED_CHARS = 4096
"""Before and after a place that is quoted: redacted as a whole, and cut afterwards."""
_COMPARED = 200
"""Continuations that are compared; of more, those asked for most."""
_EXAMINED = 8
_AFTER_CHARS = 12_000


def explain(profile: Profile, request: Request, prompt: str | None, ms_per_token: float | None = None) -> Explanation:
    """``prompt`` is the request as the profile's rendering has it; ``None`` for one of a trace of block ids.

    All that it quotes is redacted.
    """
    walk = _Walk(profile, request, prompt)
    path = walk.path()
    segments = walk.segments(path)
    if any(segment.same_moment for segment in segments):
        walk.notes.append(
            "times tell no order within a moment: what others asked for at this one's own is not counted as found"
        )
    found = max((segment.to_block for segment in segments if segment.seen), default=0)
    difference, divergence = walk.divergence(path, found)
    missed = walk.blocks - found
    shared = 0 if difference is None else difference.shared // profile.block_chars
    avoidable = min(missed, shared)
    per_block, whence = walk.tokens_per_block()
    return Explanation(
        id=request.id,
        source=request.source,
        time_s=request.time_s,
        tenant=None if request.tenant is None else redact(request.tenant),
        model=request.model,
        adapter=request.adapter,
        in_profile=walk.time_s is not None and profile.start_s <= walk.time_s <= profile.end_s,
        rendering=profile.rendering.name,
        block_units=request.block_tokens or 0 if prompt is None else profile.block_chars,
        unit="tokens" if prompt is None else "characters",
        blocks=walk.blocks,
        found_blocks=found,
        avoidable_blocks=avoidable,
        compulsory_blocks=missed - avoidable,
        tokens_per_block=per_block,
        tokens_from=whence,
        missed_ms=None if ms_per_token is None else missed * per_block * ms_per_token,
        avoidable_ms=None if ms_per_token is None else avoidable * per_block * ms_per_token,
        segments=segments,
        divergence=divergence,
        notes=walk.notes,
    )


@dataclass(frozen=True)
class _Step:
    """A node that the prompt enters at ``from_block`` and follows to ``to_block``, perhaps not to its end."""

    node: int
    from_block: int
    to_block: int


class _Walk:
    def __init__(self, profile: Profile, request: Request, prompt: str | None) -> None:
        self.profile = profile
        self.request = request
        self.prompt = prompt
        self.time_s = None if request.time_s is None else round(request.time_s, TIME_DIGITS)
        self.notes: list[str] = []
        size = profile.block_chars
        if prompt is None:
            self.digests = id_digests(ids_as_text(request.blocks or ()))
        else:
            self.digests = text_digests(prompt[: len(prompt) // size * size], size)
        self.blocks = len(self.digests) // DIGEST_BYTES
        self.partition = self._partition()
        self.children: dict[int, list[int]] = {}
        for number, node in enumerate(profile.nodes):
            if node.partition == self.partition:
                self.children.setdefault(node.parent, []).append(number)
        self._note()

    def _partition(self) -> int | None:
        request, size = self.request, None if self.prompt is not None else self.request.block_tokens or 0
        for number, each in enumerate(self.profile.partitions):
            if (each.model, each.adapter, each.block_tokens) == (request.model, request.adapter, size):
                return number
        return None

    def _note(self) -> None:
        profile = self.profile
        if self.partition is None:
            self.notes.append("the profile has no request of this model and adapter: they share nothing with others")
        if self.time_s is None:
            self.notes.append("the request has no time: what other requests asked for counts as seen before")
        elif self.time_s > profile.end_s:
            self.notes.append("the request is later than the profile: what came between is not known")
        elif self.time_s < profile.start_s:
            self.notes.append("the request is earlier than the profile: nothing of it had been seen")
        if self.request.truncated:
            self.notes.append("the log cut the prompt: it is explained as far as it goes")
        if profile.pruned_nodes:
            self.notes.append(f"the profile dropped {profile.pruned_nodes} rare prefixes to keep within its memory")

    def path(self) -> list[_Step]:
        """The nodes that the prompt passes, the last one perhaps in part."""
        steps: list[_Step] = []
        node, block = -1, 0
        while block < self.blocks:
            following = self._child(node, block)
            if following is None:
                break
            edge = self._edge(following)
            ours = self.digests[block * DIGEST_BYTES :]
            same = common_digests(edge, ours)
            steps.append(_Step(following, block, block + same))
            node, block = following, block + same
            if same * DIGEST_BYTES < len(edge):
                break
        return steps

    def _child(self, node: int, block: int) -> int | None:
        wanted = self.digests[block * DIGEST_BYTES : (block + 1) * DIGEST_BYTES]
        return next((child for child in self.children.get(node, ()) if self._edge(child, 1) == wanted), None)

    def _edge(self, number: int, blocks: int | None = None) -> bytes:
        """The digests of an edge, or of its first ``blocks``."""
        node, size = self.profile.nodes[number], self.profile.block_chars
        if node.text is not None:
            return text_digests(node.text if blocks is None else node.text[: blocks * size], size)
        return bytes.fromhex((node.block_hashes or "")[: None if blocks is None else 2 * DIGEST_BYTES * blocks])

    def _seen(self, node: Node) -> bool:
        """Whether another request had asked for the whole edge before this one came."""
        if self.time_s is None:
            return node.count > 1
        return node.first_s < self.time_s

    def _same_moment(self, node: Node) -> bool:
        """Whether others may have asked for the edge first at this request's own moment: only if there are some in the
        bucket of that moment."""
        if self.time_s is None or node.first_s != self.time_s or node.count - node.untimed < 2:
            return False
        return node.last_s == node.first_s or node.arrivals.get(int(node.first_s // self.profile.bucket_s), 2) > 1

    def segments(self, path: list[_Step]) -> list[Segment]:
        found = []
        for step in path:
            node = self.profile.nodes[step.node]
            found.append(
                Segment(
                    from_block=step.from_block,
                    to_block=step.to_block,
                    requests=node.count,
                    tenants={redact(name): count for name, count in node.tenants.items()},
                    first_s=node.first_s if node.untimed < node.count else None,
                    last_s=_last_s(node),
                    seen=self._seen(node),
                    same_moment=self._same_moment(node),
                    ends_with="" if node.text is None else self._end(step),
                )
            )
        return found

    def _end(self, step: _Step) -> str:
        """How the stretch ends, redacted together with what stands around it."""
        prompt, size = self.prompt or "", self.profile.block_chars
        begin, end = step.from_block * size, step.to_block * size
        first = max(0, begin - _REDACTED_CHARS, end - 2 * _REDACTED_CHARS)
        begin = max(begin, first)
        stretch = (prompt[begin:end], prompt[end : end + _REDACTED_CHARS])
        _, (shown,), _ = apart(prompt[first:begin], [stretch], begun=first > 0)
        return tail_excerpt(shown, _SHOWN)

    def divergence(self, path: list[_Step], found: int) -> tuple[Difference | None, Divergence | None]:
        """Where what was seen ends, and the continuation most like the prompt; nothing where all of it was seen."""
        if found == self.blocks:
            return None, None
        if self.prompt is None:
            return None, Divergence(at_block=found, at_chars=None, before="", here="")
        at = found * self.profile.block_chars
        before, here = self.prompt[max(0, at - _BEFORE_CHARS) : at], self.prompt[at : at + _AFTER_CHARS]
        best, text, number = self._nearest(before, here, self._continuations(path, found, here))
        shared = common_chars(here, text, 0, 0) if text else 0
        start = len(before) + shared if best is None else best.begin
        start, _ = whole_words(before + here, start, start)
        place = at - len(before) + start
        head = self.prompt[max(0, place - _REDACTED_CHARS) : place]
        ours, theirs = (before + here)[start:], (before + text)[start:] if text else ""
        behind = 0 if best is None else max(0, best.anchor_at - start)
        shown_before, shown, _ = apart(
            head, [(_window(ours), "")] + [(_window(theirs), "")] * bool(theirs), begun=place > _REDACTED_CHARS
        )
        _, _, after = apart(head, [(ours[:behind], _window(ours[behind:]))], begun=place > _REDACTED_CHARS)
        told = Divergence(
            at_block=found,
            at_chars=place,
            before=tail_excerpt(shown_before, _SHOWN),
            here=excerpt(shown[0], _SHOWN),
            nearest=excerpt(shown[1], _SHOWN) if theirs else "",
            requests=0 if number < 0 else self.profile.nodes[number].count,
            last_s=None if number < 0 else _last_s(self.profile.nodes[number]),
            cause=None if best is None else best.cause,
            after="" if best is None else excerpt(after[: len(best.after)], _SHOWN),
        )
        return best, told

    def _nearest(
        self, before: str, here: str, continuations: list[tuple[int, str]]
    ) -> tuple[Difference | None, str, int]:
        """The continuation with which most text is shared behind a break, else the first; with its node, -1: none."""
        best: Difference | None = None
        number, text = continuations[0] if continuations else (-1, "")
        for each, other in continuations[:_EXAMINED]:
            difference = Difference(before + here, before + other, len(before))
            if difference.cause is not None and (best is None or difference.shared > best.shared):
                best, text, number = difference, other, each
        return best, text, number

    def _continuations(self, path: list[_Step], found: int, here: str) -> list[tuple[int, str]]:
        """Ways to go on from where what was seen ends, with their text: most like the prompt first."""
        nodes, size = self.profile.nodes, self.profile.block_chars
        last = next((step for step in reversed(path) if step.from_block < found), None)
        place = -1 if last is None else last.node
        if last is not None and found - last.from_block < nodes[place].blocks:
            rest = self.after(place)[(found - last.from_block) * size :]
            return [(place, rest)] if rest else []
        seen = [child for child in self.children.get(place, ()) if self._seen(nodes[child])]
        seen = [child for child in seen if nodes[child].text is not None]
        seen.sort(key=lambda child: (-nodes[child].count, child))
        texts = [(child, self.after(child)) for child in seen[:_COMPARED]]
        return sorted(texts, key=lambda pair: -common_chars(pair[1], here, 0, 0))

    def after(self, number: int) -> str:
        """What a node begins with, and how that goes on most often, as far as text was kept."""
        parts: list[str] = []
        chars = 0
        while chars < _AFTER_CHARS:
            text = self.profile.nodes[number].text
            if text is None:
                break
            parts.append(text)
            chars += len(text)
            below = [child for child in self.children.get(number, ()) if self._seen(self.profile.nodes[child])]
            if not below:
                break
            number = max(below, key=lambda child: self.profile.nodes[child].count)
        return "".join(parts)

    def tokens_per_block(self) -> tuple[float, str]:
        """And whence that is known."""
        if self.prompt is None:
            return float(self.request.block_tokens or 0), "the trace"
        size = self.profile.block_chars
        if self.request.input_tokens and not self.request.truncated:
            return size * self.request.input_tokens / max(1, len(self.prompt)), "the log's count for this request"
        if self.profile.chars_per_token:
            return size / self.profile.chars_per_token, f"the profile ({self.profile.tokenizer})"
        return size / ASSUMED_CHARS_PER_TOKEN, f"assumed: {ASSUMED_CHARS_PER_TOKEN:g} characters a token"


def _window(text: str) -> str:
    return text[:_REDACTED_CHARS]


def _last_s(node: Node) -> float | None:
    """``None`` where no request through the node has a time."""
    return node.last_s if node.untimed < node.count else None


def common_digests(left: bytes, right: bytes) -> int:
    """How many whole digests both begin with."""
    longest = min(len(left), len(right)) // DIGEST_BYTES
    if left[: longest * DIGEST_BYTES] == right[: longest * DIGEST_BYTES]:
        return longest
    return next(
        number
        for number in range(longest)
        if left[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]
        != right[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]
    )
