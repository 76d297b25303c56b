"""``--fail-on ttft_mean_ratio<2 or residency<0.95``: conditions on named values, parsed, never evaluated as code."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from preheat.errors import BadInput
from preheat.judge.metrics.table import REPLAY_METRICS, WARMUP_METRICS
from preheat.records.evidence import Evidence

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_INVERSE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_CLAUSE = re.compile(
    r"\s*([a-z][a-z0-9_]*)\s*(<=|>=|==|!=|<|>)\s*([-+]?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?)\s*(%?)\s*", re.I
)
_JOIN = re.compile(r",|\bor\b", re.I)
COMPARED = (
    *("ttft_mean", "ttft_p50", "ttft_p95", "ttft_p99"),
    *("prompt_ms_mean", "hit_rate", "first_ttft", "first_prompt_ms", "control_prompt_ms"),
)
"""Names of the comparisons, see :mod:`preheat.judge.compare`."""


@dataclass(frozen=True)
class Clause:
    """``name operator bound``: the condition under which the promise is missed."""

    name: str
    operator: str
    bound: float

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.bound:g}"

    @property
    def promise(self) -> str:
        """What holds as long as the clause does not: ``ttft_mean_ratio>=2`` for ``ttft_mean_ratio<2``."""
        return f"{self.name}{_INVERSE[self.operator]}{self.bound:g}"

    def trips(self, value: float) -> bool:
        return _OPERATORS[self.operator](value, self.bound)


def known_names() -> list[str]:
    """Every name an expression may use: ``TAG_cold`` and ``TAG_warm`` of a replay, ``NAME_ratio`` (cold / warm, over
    requests that succeeded in both), ``NAME_ratio_low`` (lower end of its 95 % interval), and those of the warm-up."""
    names = [f"{metric.tag}_{side}" for metric in REPLAY_METRICS for side in ("cold", "warm")]
    names += [
        f"{name}_{side}" for name in COMPARED if name.startswith(("first_", "control_")) for side in ("cold", "warm")
    ]
    names += [f"{name}_ratio" for name in COMPARED] + ["ttft_mean_ratio_low", "first_ttft_ratio_low"]
    return sorted([*names, *(metric.tag for metric in WARMUP_METRICS), "redundancy"])


def parse(expression: str) -> list[Clause]:
    """The clauses of ``expression``, joined by ``or`` or commas. Raises :class:`BadInput` for anything else."""
    clauses = []
    names = known_names()
    for part in _JOIN.split(expression):
        match = _CLAUSE.fullmatch(part)
        if match is None:
            raise BadInput(
                f"--fail-on: {part.strip()!r} is not a condition",
                "write NAME OPERATOR NUMBER, as in ttft_mean_ratio<2, joined by 'or' or a comma",
            )
        if match[1].lower() not in names:
            raise BadInput(f"--fail-on: there is no value named {match[1]!r}", f"known are {', '.join(names)}")
        clauses.append(Clause(match[1].lower(), match[2], float(match[3]) / (100 if match[4] else 1)))
    return clauses


def values(evidence: Evidence) -> dict[str, float | None]:
    """Name → value of everything in ``evidence`` that a condition may name; ``None`` is ABSTAIN."""
    table: dict[str, float | None] = {metric.name: metric.value for metric in evidence.warmup}
    for comparison in evidence.comparisons:
        table[f"{comparison.name}_cold"] = comparison.cold
        table[f"{comparison.name}_warm"] = comparison.warm
        table[f"{comparison.name}_ratio"] = comparison.ratio
        table[f"{comparison.name}_ratio_low"] = comparison.ratio_low
    for side, metrics in (("cold", evidence.cold), ("warm", evidence.warm)):
        table |= {f"{metric.name}_{side}": metric.value for metric in metrics}
    return table


def fail_on(evidence: Evidence, expression: str) -> Evidence:
    """``evidence`` with one promise per clause, its inverse: kept unless the clause holds.

    A value that cannot be told keeps no promise: the clause counts as missed and a note says why. Raises
    :class:`BadInput` for an expression that cannot be read.
    """
    table = values(evidence)
    promises = dict(evidence.promises)
    notes = list(evidence.notes)
    for clause in parse(expression):
        value = table.get(clause.name)
        promises[clause.promise] = value is not None and not clause.trips(value)
        if value is None:
            notes.append(f"Promise {clause.promise}: {clause.name} cannot be told here, so it counts as missed.")
    return msgspec.structs.replace(evidence, promises=promises, notes=notes)
