"""What each tenant asked of each partition, counted while requests come, and added up for a whole profile."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from preheat.records.profile import Share
from preheat.records.request import Request

TIME_DIGITS = 1
"""Times are kept to a tenth of a second."""


class Tally:
    """A :class:`Share` in the making."""

    __slots__ = (
        "arrivals",
        "blocks",
        "chars",
        "first_s",
        "last_s",
        "requests",
        "truncated",
        "untimed",
        "without_prompt",
    )

    def __init__(self) -> None:
        self.requests = self.blocks = self.chars = self.without_prompt = self.truncated = self.untimed = 0
        self.arrivals: dict[int, int] = {}
        self.first_s, self.last_s = float("inf"), float("-inf")

    def count(self, request: Request, bucket_s: float, blocks: int, chars: int) -> bool:
        """One request more, ``chars`` long when rendered; whether it is the first in its bucket."""
        self.requests += 1
        self.blocks += blocks
        self.chars += chars
        if request.truncated:
            self.truncated += 1
        time_s = request.time_s
        if time_s is None:
            self.untimed += 1
            return False
        bucket = int(time_s // bucket_s)
        before = self.arrivals.get(bucket, 0)
        self.arrivals[bucket] = before + 1
        if time_s < self.first_s:
            self.first_s = time_s
        if time_s > self.last_s:
            self.last_s = time_s
        return not before

    def coarsen(self) -> int:
        """Count by buckets of twice the length from now on; by how many entries fewer."""
        before = len(self.arrivals)
        self.arrivals = _coarser(self.arrivals, 2)
        return before - len(self.arrivals)

    def share(self) -> Share:
        timed = self.first_s <= self.last_s
        return Share(
            requests=self.requests,
            blocks=self.blocks,
            chars=self.chars,
            without_prompt=self.without_prompt,
            truncated=self.truncated,
            untimed=self.untimed,
            arrivals=dict(sorted(self.arrivals.items())),
            first_s=round(self.first_s, TIME_DIGITS) if timed else None,
            last_s=round(self.last_s, TIME_DIGITS) if timed else None,
        )


def added(shares: Iterable[Share]) -> Share:
    """All of them as one."""
    shares = list(shares)
    arrivals: dict[int, int] = {}
    for share in shares:
        for bucket, count in share.arrivals.items():
            arrivals[bucket] = arrivals.get(bucket, 0) + count
    return Share(
        requests=sum(share.requests for share in shares),
        blocks=sum(share.blocks for share in shares),
        chars=sum(share.chars for share in shares),
        without_prompt=sum(share.without_prompt for share in shares),
        truncated=sum(share.truncated for share in shares),
        untimed=sum(share.untimed for share in shares),
        arrivals=dict(sorted(arrivals.items())),
        first_s=min((share.first_s for share in shares if share.first_s is not None), default=None),
        last_s=max((share.last_s for share in shares if share.last_s is not None), default=None),
    )


def coarser(share: Share, factor: int) -> Share:
    """The same, in buckets ``factor`` times as long."""
    if factor == 1:
        return share
    return structs.replace(share, arrivals=_coarser(share.arrivals, factor))


def _coarser(arrivals: dict[int, int], factor: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for bucket, count in arrivals.items():
        found[bucket // factor] = found.get(bucket // factor, 0) + count
    return found
