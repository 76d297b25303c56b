"""Groups at a least cosine, checked against all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from preheat.mine.leaders import led_groups


def rows(seed: int) -> csr_array[np.float32]:
    """600 unit rows around 30 centres, and 20 of zeros: more than two blocks of the comparison."""
    rng = np.random.default_rng(seed)
    centres = rng.random((30, 200)) * (rng.random((30, 200)) < 0.1)
    dense = np.abs(centres[rng.integers(0, 30, 600)] + 0.12 * rng.random((600, 200)) * (rng.random((600, 200)) < 0.1))
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    return csr_array(np.vstack([dense, np.zeros((20, 200))]).astype(np.float32))


@pytest.mark.parametrize("threshold", [0.3, 0.72, 0.95, 1.01])
def test_members_lie_within_the_threshold_of_their_leader_and_leaders_apart(threshold: float) -> None:
    vectors = rows(1)
    cosines = (vectors @ vectors.T).toarray()
    groups = led_groups(vectors, threshold)
    assert sorted(index for group in groups for index in group) == list(range(620))
    leaders = [group[0] for group in groups]
    for group in groups:
        for member in group[1:]:
            assert cosines[member, group[0]] >= threshold - 1e-6
            earlier = [leader for leader in leaders if leader < member]
            assert cosines[member, group[0]] == pytest.approx(cosines[member, earlier].max(), abs=1e-6)
    apart = cosines[np.ix_(leaders, leaders)] - 2 * np.eye(len(leaders))
    assert apart.max(initial=-1) < threshold + 1e-6
    assert all(len(group) == 1 for group in groups if group[0] >= 600)
    assert len(groups) == 620 if threshold > 1 else len(groups) < 620


def test_nearly_all_pairs_at_the_threshold_end_in_one_group() -> None:
    vectors = rows(2)
    cosines = (vectors @ vectors.T).toarray()
    of = np.zeros(620, int)
    for number, group in enumerate(led_groups(vectors, 0.72)):
        of[group] = number
    near = np.triu(cosines >= 0.72, 1)
    together = np.triu(of[:, None] == of[None, :], 1)
    assert (near & together).sum() > 0.97 * near.sum()
    assert (near & together).sum() > 0.97 * together.sum()


def test_nothing_is_grouped_of_nothing() -> None:
    assert led_groups(csr_array((0, 3), dtype=np.float32), 0.5) == []
