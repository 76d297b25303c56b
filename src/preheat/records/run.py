"""What was done to an engine: a warm-up, and a replay of measured traffic."""

from __future__ import annotations

import msgspec

from preheat.records.outcomes import Outcome
from preheat.records.target import EngineInfo

WARM_SCHEMA = "preheat.warm"
REPLAY_SCHEMA = "preheat.run"
VERSION = "1.0"


class ItemRun(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one plan item on one engine.

    ``predicted_tokens`` is what the plan said would be resident; ``cached_tokens`` the engine's own word at the
    first probe (``None``: no word); ``cached_before`` its word when we warmed; ``computed_tokens`` what the warm-up
    made it compute, ``probe_tokens`` what the probe made it compute (both count as warm-up).
    """

    id: str
    status: Outcome
    predicted_tokens: int
    cached_tokens: int | None = None
    cached_before: int | None = None
    computed_tokens: int = 0
    probe_tokens: int = 0
    warm_ms: float = 0.0
    probe_ms: float = 0.0
    attempts: int = 0
    reason: str = ""


class WarmRun(msgspec.Struct, frozen=True, kw_only=True):
    """A warm-up and its verification.

    ``residency`` = items whose first probe reported at least the predicted tokens / items attempted (all but
    DEFERRED); ``None`` when none was attempted.
    """

    schema: str = WARM_SCHEMA
    version: str = VERSION
    plan_hash: str
    engine: EngineInfo
    started: str
    duration_s: float
    verify_target: float
    items: list[ItemRun] = []
    distinct_tokens: int = 0
    complete: bool = True

    @property
    def attempted(self) -> list[ItemRun]:
        return [item for item in self.items if item.status is not Outcome.DEFERRED]

    @property
    def verified(self) -> int:
        return sum(item.status in (Outcome.LOADED, Outcome.ALREADY) for item in self.items)

    @property
    def residency(self) -> float | None:
        attempted = len(self.attempted)
        return self.verified / attempted if attempted else None

    @property
    def confirmed(self) -> str:
        """``verified`` of the items attempted in words, and how many of the planned ones were never attempted."""
        deferred = len(self.items) - len(self.attempted)
        left = f"; {deferred} of {len(self.items)} planned items deferred" if deferred else ""
        return f"{self.verified} of {len(self.attempted)} attempted{left}"

    @property
    def tokens_computed(self) -> int:
        """All that the engine computed because of the warm-up, probes included."""
        return sum(item.computed_tokens + item.probe_tokens for item in self.items)

    @property
    def counts(self) -> dict[str, int]:
        tally: dict[str, int] = {}
        for item in self.items:
            tally[item.status.value] = tally.get(item.status.value, 0) + 1
        return tally


class RequestRun(msgspec.Struct, frozen=True, kw_only=True):
    """One replayed request. Times are relative: ``due_s`` and ``sent_s`` from the start of the replay.

    ``ttft_ms`` from sending to the first generated token, as the client sees it; ``prompt_ms`` the engine's own
    word for its prompt processing; ``cached_tokens`` its word for what came from the cache; ``item`` the deepest
    plan item that is a prefix of the rendered prompt, ``item_share`` its share of the prompt's characters.
    ``truncated``: the prompt was longer than the context and was cut to fit.
    """

    id: str
    due_s: float
    sent_s: float = 0.0
    ttft_ms: float | None = None
    total_ms: float | None = None
    itl_ms: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    prompt_ms: float | None = None
    decode_ms: float | None = None
    truncated: bool = False
    tenant: str | None = None
    item: str | None = None
    item_share: float = 0.0
    error: str | None = None


class ReplayRun(msgspec.Struct, frozen=True, kw_only=True):
    """A replay. ``speed`` < 1 means slower than recorded; ``label`` is ``cold``, ``warm`` or the user's own.

    ``busy`` = engine's own processing time (prompt + decode) / duration, ``None`` where it does not say.
    ``window_requests`` is how many requests the log holds in the window, ``notes`` says why fewer were sent.
    ``from_s`` is when the first of them is due in the log's own clock: the window itself may begin earlier.
    """

    schema: str = REPLAY_SCHEMA
    version: str = VERSION
    label: str
    engine: EngineInfo
    started: str
    log: str
    from_s: float
    window_s: float
    speed: float
    duration_s: float
    salted: bool = False
    window_requests: int = 0
    requests: list[RequestRun] = []
    notes: list[str] = []
    busy: float | None = None

    @property
    def last_s(self) -> float:
        """When the last request that was sent is due, in the log's own clock."""
        return self.from_s + max((request.due_s for request in self.requests), default=0.0) * self.speed

    @property
    def sent(self) -> str:
        """``14 of 47``: requests sent of those that the log holds in the window."""
        return f"{len(self.requests)} of {max(self.window_requests, len(self.requests))}"
