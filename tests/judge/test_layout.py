"""Where the boxes of a small graph are put."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.judge.layout import place

WIDTH, HEIGHT, GAP = 940.0, 580.0, 8.0


def overlaps(at: np.ndarray, boxes: np.ndarray, gap: float = 0.0) -> int:  # type: ignore[type-arg]
    need = (boxes[:, None] + boxes[None]) / 2 + gap
    over = (np.abs(at[:, None] - at[None]) < need - 0.01).all(axis=2)
    return int(over.sum() - len(at)) // 2


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(0, 2**31), st.floats(0, 1))
def test_boxes_stay_in_the_frame_and_apart(count: int, seed: int, linked: float) -> None:
    draw = np.random.default_rng(seed)
    boxes = np.stack([draw.uniform(20, 130, count), draw.uniform(20, 38, count)], axis=1)
    pull = np.triu(draw.random((count, count)) * (draw.random((count, count)) < linked), 1)
    at = place(boxes, pull + pull.T, WIDTH, HEIGHT, GAP)
    assert ((at - boxes / 2 >= -0.01) & (at + boxes / 2 <= [WIDTH + 0.01, HEIGHT + 0.01])).all()
    assert overlaps(at, boxes) == 0
    assert (place(boxes, pull + pull.T, WIDTH, HEIGHT, GAP) == at).all()


def test_what_is_linked_is_nearer() -> None:
    boxes = np.full((20, 2), 24.0)
    pull = np.zeros((20, 20))
    for group in (range(10), range(10, 20)):
        for one in group:
            for other in group:
                pull[one, other] = one != other
    at = place(boxes, pull, WIDTH, HEIGHT, GAP)
    distance = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    inside = pull > 0
    outside = ~inside & ~np.eye(20, dtype=bool)
    assert distance[inside].mean() < 0.75 * distance[outside].mean()


def test_nothing_and_one() -> None:
    assert place(np.zeros((0, 2)), np.zeros((0, 0)), WIDTH, HEIGHT, GAP).shape == (0, 2)
    assert place(np.array([[40.0, 20.0]]), np.zeros((1, 1)), WIDTH, HEIGHT, GAP)[0].tolist() == pytest.approx(
        [WIDTH / 2, HEIGHT / 2]
    )
