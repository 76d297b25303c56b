"""The vectors of what prompts share, against scikit-learn's counts."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from template_logs import talk

from preheat.mine.vectors import LEAST, SHARED_BY, shared_vectors

PATTERN = r"[a-zà-ÿ]+|[0-9]+|[^\sa-zà-ÿ0-9]"


def prompts() -> list[str]:
    rng = random.Random(1)
    ends = [
        " Now answer from the text above, in one sentence: ",
        " 请根据上面的文章回答下面这个问题，不要输出其他内容：",
        "",
    ]
    return [
        talk(rng, rng.choice(["en", "de", "zh"]), 40) + rng.choice(ends) + talk(rng, "es", 9) + " - a, b - a, b" * 2
        for _ in range(120)
    ]


def test_the_vectors_are_those_of_the_formula_over_the_counts_of_scikit_learn() -> None:
    texts = prompts()
    counts = CountVectorizer(token_pattern=PATTERN, ngram_range=(5, 5)).fit_transform(texts).toarray()
    once = (counts == 1).astype(float)
    shared_by = once.sum(axis=0)
    once[:, shared_by < SHARED_BY] = 0
    once[once.sum(axis=1) < LEAST] = 0
    weights = (1 + np.log((1 + len(texts)) / (1 + shared_by))) * np.log(np.maximum(shared_by, 1) / (SHARED_BY - 1))
    expected = once * np.sqrt(np.maximum(weights, 0))
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = expected / np.where(norms == 0, 1, norms)
    found = shared_vectors(texts)
    assert found.shape[0] == len(texts)
    assert 40 < (norms > 0).sum() < 120
    np.testing.assert_allclose((found @ found.T).toarray(), expected @ expected.T, atol=1e-5)


def test_what_no_three_prompts_share_counts_for_nothing() -> None:
    rng = random.Random(2)
    assert shared_vectors([talk(rng, "en", 60) for _ in range(20)]).nnz == 0
    assert shared_vectors([]).shape == (0, 1)
    assert shared_vectors(["", "a b", "好"]).nnz == 0


def test_of_a_long_prompt_both_ends_are_read() -> None:
    rng = random.Random(3)
    end = "Now answer the question about the text above and do not write anything else than a single sentence."
    texts = [talk(rng, "en", 3_000) + end for _ in range(4)]
    found = shared_vectors(texts)
    cosines = (found @ found.T).toarray()
    assert cosines.min() == pytest.approx(1, abs=0.2)
