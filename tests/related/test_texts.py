"""Texts: words weighed by how rare they are, as scikit-learn weighs them."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from predibot.related.features import tf_idf
from tests.related.made import random_words


@pytest.mark.parametrize("seed", range(3))
def test_words_are_weighed_as_scikit_learn_weighs_them(seed: int) -> None:
    texts = ["Will it RAIN, in São Paulo's 2nd week?", "rain_snow", *random_words(np.random.default_rng(seed), 40)]
    theirs = TfidfVectorizer(token_pattern=r"[^\W_]+").fit_transform(texts)
    np.testing.assert_allclose(tf_idf(texts).toarray(), theirs.toarray(), atol=1e-12)


def test_a_text_without_words_says_nothing() -> None:
    assert tf_idf(["?!", "rain"]).toarray().tolist() == [[0.0], [1.0]]


def test_no_text_has_no_words() -> None:
    assert tf_idf([""]).shape == (1, 0)
