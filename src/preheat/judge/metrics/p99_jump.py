"""How much slower the slowest requests are than on a warm replica."""

from __future__ import annotations

from collections.abc import Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain, window_of
from preheat.judge.metrics.ttft_quantile import caveat, quantile
from preheat.judge.pairs import paired


class P99Jump:
    """Relative growth of P99 TTFT over the warm baseline, over the requests that succeeded in both.

    The value is raw. Spec 2.5 bounds it to 0..3; that is done inside the cost only, so that nothing is hidden here.
    """

    tag = "p99_jump"
    title = "P99 jump over the warm baseline"
    unit = "ratio"
    formula = "P99(ttft, this run) / P99(ttft, warm baseline) - 1, raw (clamped to 0..3 in the cold-start cost)"
    denominator = "requests that succeeded in both runs"
    depends: tuple[str, ...] = ()

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.run is None:
            return abstain("no replay")
        if subject.baseline is None:
            return abstain("no warm baseline to compare with")
        pairs = [(pair.cold.ttft_ms, pair.warm.ttft_ms) for pair in paired(subject.run, subject.baseline)]
        if not pairs:
            return abstain("no request succeeded in both runs")
        base = quantile([b for _, b in pairs if b is not None], 99)
        if base <= 0:
            return abstain("the warm baseline's P99 is zero")
        value = quantile([a for a, _ in pairs if a is not None], 99) / base - 1
        counted = f"{len(pairs)} requests that succeeded in both runs"
        return Reading(value, counted, window_of(subject.run), note=caveat(99, len(pairs)))
