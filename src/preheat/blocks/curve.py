"""From accesses to the capacity curve: policies at sizes, under one ceiling, over one denominator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from preheat.blocks.accesses import Accesses, Ids
from preheat.blocks.runs import runs_of
from preheat.blocks.simulator import Simulator
from preheat.records.curve import CapacityCurve, PolicyCurve

_STEPS = 8


def ladder(distinct: int) -> list[int]:
    """Sizes to try where none are asked for: halved from the smallest power of two that holds everything."""
    top = (max(1, distinct) - 1).bit_length()
    return [1 << step for step in range(max(0, top - _STEPS), top + 1)]


def capacity_curve(
    accesses: Accesses, policies: Sequence[str], capacities: Sequence[int], counted_from_s: float | None = None
) -> CapacityCurve:
    """Play all accesses from a cold start; count the requests at or after ``counted_from_s`` (default: all).

    ``policies`` are keys of :data:`preheat.blocks.policies.policy.POLICIES`, ``capacities`` are in blocks, above 0.
    """
    counted = np.ones(accesses.requests, bool)
    if counted_from_s is not None:
        counted = accesses.times_s >= counted_from_s
    simulator = Simulator(runs_of(accesses))
    asked = np.diff(accesses.starts)
    blocks = int(asked[counted].sum())
    ceiling = simulator.ceiling()
    ceiling_blocks = int(ceiling[counted].sum())
    curves = []
    for policy in policies:
        found = [simulator.found(policy, capacity) for capacity in capacities]
        hits = [int(each[counted].sum()) for each in found]
        rates = [_length_rate(accesses, asked, each, counted) for each in found]
        curves.append(
            PolicyCurve(
                policy=policy,
                hit_blocks=hits,
                hit_rate=[_share(hit, blocks) for hit in hits],
                avoidable_blocks=[ceiling_blocks - hit for hit in hits],
                length_hit_rate=[rate for rate in rates if rate is not None],
            )
        )
    lengths, times_s = accesses.lengths[counted], accesses.times_s[~np.isnan(accesses.times_s)]
    return CapacityCurve(
        unit="tokens" if accesses.in_tokens else "characters",
        block_units=accesses.units,
        start_s=float(times_s.min()) if len(times_s) else None,
        end_s=float(times_s.max()) if len(times_s) else None,
        counted_from_s=counted_from_s,
        requests=int(counted.sum()),
        blocks=blocks,
        length=None if np.isnan(lengths).any() else int(lengths.sum()),
        distinct_blocks=accesses.distinct,
        compulsory_blocks=blocks - ceiling_blocks,
        ceiling_blocks=ceiling_blocks,
        ceiling_hit_rate=_share(ceiling_blocks, blocks),
        ceiling_length_hit_rate=_length_rate(accesses, asked, ceiling, counted),
        capacities=list(capacities),
        policies=curves,
    )


def _length_rate(accesses: Accesses, asked: Ids, found: Ids, counted: npt.NDArray[np.bool_]) -> float | None:
    """Of the prompts' lengths, the share that is found; a last block that is not full counts as what it holds."""
    lengths = accesses.lengths[counted]
    if np.isnan(lengths).any() or not lengths.sum():
        return None
    whole = np.where(found == asked, np.fmin(found * accesses.units, accesses.lengths), found * accesses.units)
    return float(whole[counted].sum() / lengths.sum())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
