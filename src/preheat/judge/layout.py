"""Where to put the labelled boxes of a small graph: forces first, then no box over another. The same every time.

Springs and repulsion after Fruchterman and Reingold (1991), from a spiral in the order of the nodes instead of from
random places; boxes that overlap are then pushed apart along the axis on which they overlap least.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 400
_PUSHES = 600
_GOLDEN_ANGLE = 2.399963229728653

Floats = NDArray[np.float64]


def place(boxes: Floats, pull: Floats, width: float, height: float, gap: float) -> Floats:
    """Centres of the boxes, shape ``[n, 2]``, within a frame.

    ``boxes`` are widths and heights, shape ``[n, 2]``; ``pull`` is symmetric, shape ``[n, n]``, from 0 to 1. Boxes
    are ``gap`` apart wherever the frame has room for that.
    """
    count = len(boxes)
    if not count:
        return np.zeros((0, 2))
    turn = np.arange(count) * _GOLDEN_ANGLE
    at = np.sqrt((np.arange(count) + 0.5) / count)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    at = _settle(at, pull)
    return _apart(_fit(at, boxes, width, height), boxes, width, height, gap)


def _settle(at: Floats, pull: Floats) -> Floats:
    """In units of a disc of radius 1: linked nodes near each other, the others apart."""
    count = len(at)
    near = np.sqrt(np.pi / count)
    for step in range(_ROUNDS):
        between = at[:, None] - at[None]
        distance = np.maximum(np.hypot(between[..., 0], between[..., 1]), 0.01 * near)
        force = near**2 / distance**2 - pull * distance / near
        np.fill_diagonal(force, 0.0)
        moved = (force[..., None] * between).sum(axis=1) - 0.5 * at
        length = np.maximum(np.hypot(moved[:, 0], moved[:, 1]), 1e-9)
        most = 0.15 * (1 - step / _ROUNDS)
        at = at + moved / length[:, None] * np.minimum(length, most)[:, None]
    return at


def _fit(at: Floats, boxes: Floats, width: float, height: float) -> Floats:
    """Scaled into the frame, half-way to even spacing along each axis, so that no corner stays empty."""
    count = len(at)
    fitted = np.empty_like(at)
    for axis, size in ((0, width), (1, height)):
        values = at[:, axis]
        span = float(np.ptp(values)) or 1.0
        linear = (values - values.min()) / span if count > 1 else np.full(1, 0.5)
        rank = np.empty(count)
        rank[np.argsort(values, kind="stable")] = (np.arange(count) + 0.5) / count
        half = boxes[:, axis] / 2
        fitted[:, axis] = half + (0.5 * linear + 0.5 * rank) * (size - 2 * half)
    return fitted


def _apart(at: Floats, boxes: Floats, width: float, height: float, gap: float) -> Floats:
    """Push overlapping boxes away from each other until none overlaps, within the frame."""
    low, high = boxes / 2, np.array([width, height]) - boxes / 2
    need = (boxes[:, None] + boxes[None]) / 2 + gap
    order = np.sign(np.arange(len(at))[:, None] - np.arange(len(at))[None])
    for _ in range(_PUSHES):
        between = at[:, None] - at[None]
        lack: Floats = need - np.abs(between)
        np.einsum("iij->ij", lack)[:] = 0.0
        over = (lack > 1e-6).all(axis=2)
        if not over.any():
            break
        sideways = lack[..., 0] < lack[..., 1]
        push: NDArray[Any] = np.zeros_like(between)
        for axis, chosen in ((0, sideways), (1, ~sideways)):
            way = np.where(np.abs(between[..., axis]) < 1e-9, order, np.sign(between[..., axis]))
            push[..., axis] = np.where(over & chosen, way * lack[..., axis] / 2, 0.0)
        at = np.clip(at + 0.7 * push.sum(axis=1), low, np.maximum(low, high))
    return at
