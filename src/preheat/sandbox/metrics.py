"""The sandbox's counters, under vLLM's names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

TTFT = "vllm:time_to_first_token_seconds"
ITL = "vllm:inter_token_latency_seconds"
# fmt: off
_TTFT_BUCKETS_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
                   20.0, 40.0, 80.0, 160.0, 640.0, 2560.0)
_ITL_BUCKETS_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
                  20.0, 40.0, 80.0)
# fmt: on


class Histogram:
    """A Prometheus histogram: counts between upper bounds in seconds (the last: above all), their sum and number."""

    def __init__(self, bounds_s: tuple[float, ...]) -> None:
        self.bounds_s = bounds_s
        self.counts = [0] * (len(bounds_s) + 1)
        self.sum_s = 0.0
        self.count = 0

    def observe(self, seconds: float) -> None:
        self.sum_s += seconds
        self.count += 1
        self.counts[bisect_left(self.bounds_s, seconds)] += 1


@dataclass
class Counters:
    """What the engine counted since its start. Queries and hits are prompt tokens, as in vLLM."""

    prefix_queries: int = 0
    prefix_hits: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    finished: dict[str, int] = field(default_factory=lambda: {"length": 0, "stop": 0, "abort": 0})
    ttft: Histogram = field(default_factory=lambda: Histogram(_TTFT_BUCKETS_S))
    itl: Histogram = field(default_factory=lambda: Histogram(_ITL_BUCKETS_S))

    def flat(self) -> dict[str, float]:
        """By Prometheus name, labels summed over; of histograms the sum and the count."""
        return {
            "vllm:prefix_cache_queries_total": float(self.prefix_queries),
            "vllm:prefix_cache_hits_total": float(self.prefix_hits),
            "vllm:prompt_tokens_total": float(self.prompt_tokens),
            "vllm:generation_tokens_total": float(self.generation_tokens),
            "vllm:request_success_total": float(sum(self.finished.values())),
            "vllm:num_preemptions_total": 0.0,
            f"{TTFT}_sum": self.ttft.sum_s,
            f"{TTFT}_count": float(self.ttft.count),
            f"{ITL}_sum": self.itl.sum_s,
            f"{ITL}_count": float(self.itl.count),
        }


def exposition(
    counters: Counters, gauges: Mapping[str, float], model: str, block_tokens: int, capacity_blocks: int
) -> str:
    """The Prometheus text of ``/metrics``."""
    label = f'engine="0",model_name="{_escaped(model)}"'
    lines: list[str] = []
    for name, value in gauges.items():
        lines += [f"# TYPE {name} gauge", f"{name}{{{label}}} {value}"]
    for name, value in counters.flat().items():
        if name.startswith((TTFT, ITL, "vllm:request_success")):
            continue
        lines += [f"# TYPE {name.removesuffix('_total')} counter", f"{name}{{{label}}} {value}"]
    lines.append("# TYPE vllm:request_success counter")
    for reason, count in counters.finished.items():
        lines.append(f'vllm:request_success_total{{{label},finished_reason="{reason}"}} {float(count)}')
    lines += _histogram_lines(TTFT, counters.ttft, label) + _histogram_lines(ITL, counters.itl, label)
    lines.append("# TYPE vllm:cache_config_info gauge")
    sizes = f'block_size="{block_tokens}",enable_prefix_caching="True",num_gpu_blocks="{capacity_blocks}"'
    lines.append(f'vllm:cache_config_info{{{sizes},engine="0"}} 1.0')
    return "\n".join(lines) + "\n"


def _histogram_lines(name: str, histogram: Histogram, label: str) -> list[str]:
    lines = [f"# TYPE {name} histogram"]
    for bound, count in zip(histogram.bounds_s, accumulate(histogram.counts), strict=False):
        lines.append(f'{name}_bucket{{{label},le="{bound}"}} {float(count)}')
    lines.append(f'{name}_bucket{{{label},le="+Inf"}} {float(histogram.count)}')
    lines.append(f"{name}_sum{{{label}}} {histogram.sum_s}")
    lines.append(f"{name}_count{{{label}}} {float(histogram.count)}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
