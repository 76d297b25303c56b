"""The table of metrics. A new one is one file and one line here."""

from __future__ import annotations

from preheat.judge.metrics.busy_share import BusyShare
from preheat.judge.metrics.cold_start_cost import BoundedColdStartCost, ColdStartCost
from preheat.judge.metrics.errors_share import ErrorsShare
from preheat.judge.metrics.hit_rate import HitRate
from preheat.judge.metrics.itl_mean import ItlMean
from preheat.judge.metrics.metric import Metric
from preheat.judge.metrics.p99_jump import P99Jump
from preheat.judge.metrics.prompt_time import PromptTime
from preheat.judge.metrics.residency import Residency
from preheat.judge.metrics.tokens_wasted import TokensWasted
from preheat.judge.metrics.truncation_rate import TruncationRate
from preheat.judge.metrics.ttft_mean import TtftMean
from preheat.judge.metrics.ttft_quantile import TtftQuantile
from preheat.judge.metrics.ttft_variance import TtftVariance
from preheat.judge.metrics.waiting import Waiting
from preheat.judge.metrics.warmup_duration import WarmupDuration
from preheat.judge.metrics.warmup_tokens import ComputeRatio, DistinctTokens, TokensComputed

REPLAY_METRICS: tuple[Metric, ...] = (
    TtftMean(),
    TtftQuantile(50),
    TtftQuantile(95),
    TtftQuantile(99),
    TtftVariance(),
    PromptTime(),
    Waiting(),
    HitRate(),
    ItlMean(),
    TruncationRate(),
    ErrorsShare(),
    P99Jump(),
    BusyShare(),
    ColdStartCost(),
    BoundedColdStartCost(),
)
"""Of one replay."""

WARMUP_METRICS: tuple[Metric, ...] = (
    WarmupDuration(),
    TokensComputed(),
    DistinctTokens(),
    ComputeRatio(),
    TokensWasted(),
    Residency(),
)
"""Of one warm-up. Redundancy joins them where it was measured: it reads the log, see ``judge/redundancy.py``."""

METRICS: dict[str, Metric] = {metric.tag: metric for metric in (*REPLAY_METRICS, *WARMUP_METRICS)}
"""By tag."""
