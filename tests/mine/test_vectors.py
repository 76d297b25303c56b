"""TF-IDF vectors, against scikit-learn's and against the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from preheat.mine.vectors import tfidf

PROMPTS = [
    "Summarise the contract of 2024, please.",
    "Summarise the CONTRACT of 2025, please!",
    "请总结这份合同的主要条款。",
    "请总结这份合同的付款条款。",
    "a a a b",
    "",
    " \n\t",
    "x" * 7_000 + " tail",
    "\ud800 broken 😀 😀",
]


def test_the_same_as_scikit_learns() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    theirs = text.TfidfVectorizer(
        ngram_range=(1, 2), token_pattern=r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]", sublinear_tf=True
    ).fit_transform([prompt[:6_000] for prompt in PROMPTS])
    ours = tfidf(PROMPTS)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose((ours @ ours.T).toarray(), (theirs @ theirs.T).toarray(), atol=1e-6)


def test_the_formula() -> None:
    cosine = (lambda rows: (rows @ rows.T).toarray()[0, 1])(tfidf(["a a", "a c"]))
    rare, common = 1 + math.log(3 / 2), 1 + math.log(3 / 3)
    first = ((1 + math.log(2)) * common, rare, 0.0, 0.0)  # a, "a a"
    second = (common, 0.0, rare, rare)  # a, c, "a c"
    assert cosine == pytest.approx(first[0] * second[0] / math.hypot(*first) / math.hypot(*second))


def test_rows_have_length_one_and_prompts_without_tokens_length_none() -> None:
    rows = tfidf(PROMPTS)
    assert rows.dtype == np.float32
    lengths = np.sqrt((rows * rows).sum(axis=1))
    np.testing.assert_allclose(lengths, [1, 1, 1, 1, 1, 0, 0, 1, 1], atol=1e-6)


@pytest.mark.parametrize("prompts", [[], [""], ["", " "]])
def test_nothing_to_vectorise(prompts: list[str]) -> None:
    assert tfidf(prompts).shape == (len(prompts), 1)
    assert tfidf(prompts).nnz == 0
