"""Texts: words that are weighed by how rare they are, and how like two texts are by them."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Vectors: TypeAlias = sparse.csr_array | NDArray[np.float64]
"""A row a text, (n, d): of length 1, or of zeros where the text says nothing."""
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
"""What turns texts into vectors; the cosine of two rows is how like the texts are."""

_WORD = re.compile(r"[^\W_]+")


def tf_idf(texts: Sequence[str]) -> sparse.csr_array:
    """Return the texts by their words, (n, words): each word's count times its rarity ln((1 + n) / (1 + df)) + 1.

    Case and punctuation do not matter. The words stand in the order of the alphabet.

    Source:
        Spärck Jones (1972), smoothed as scikit-learn's TfidfVectorizer with the token pattern `[^\\W_]+`.

    Examples:
        >>> vectors = tf_idf(["Rain in March?", "RAIN, in March", "Snow"])
        >>> (vectors @ vectors.T).toarray().round(6).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return weighted_words(texts)[0]


def weighted_words(texts: Sequence[str]) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Return what `tf_idf` does, and the words of its columns."""
    counts = [Counter(_WORD.findall(text.casefold())) for text in texts]
    number = {word: place for place, word in enumerate(sorted({word for each in counts for word in each}))}
    starts = np.concatenate([[0], np.cumsum([len(each) for each in counts])]).astype(np.int64)
    column = np.fromiter((number[word] for each in counts for word in sorted(each)), dtype=np.int64)
    times = np.fromiter((each[word] for each in counts for word in sorted(each)), dtype=np.float64)
    rarity = np.log((1.0 + len(texts)) / (1.0 + np.bincount(column, minlength=len(number)))) + 1.0
    weight = times * rarity[column]
    row = np.repeat(np.arange(len(texts)), np.diff(starts))
    weight /= np.sqrt(np.bincount(row, weight**2, minlength=len(texts)))[row]
    return sparse.csr_array((weight, column, starts), shape=(len(texts), len(number))), tuple(number)
