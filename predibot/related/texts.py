"""Texts as vectors of words, weighted by rarity."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from predibot.related.wording import CALENDAR_WORDS, FREE_WORDS
from predibot.scoring.arguments import Floats, Ints

Vectors: TypeAlias = sparse.csr_array | NDArray[np.float64]
"""A row for each text, (n, d): of length 1, or zeros for a text without words."""
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Turns texts into vectors; the likeness of two texts is the cosine of their rows."""

_WORD = re.compile(r"[^\W_]+")


def tf_idf(texts: Sequence[str]) -> sparse.csr_array:
    """Return the texts by their words, (n, words): each word's count times its rarity ln((1 + n) / (1 + df)) + 1.

    Case and punctuation do not matter. Words are in alphabetical order.

    Source:
        Spärck Jones (1972), smoothed as scikit-learn's TfidfVectorizer with the token pattern `[^\\W_]+`.

    Examples:
        >>> vectors = tf_idf(["Rain in March?", "RAIN, in March", "Snow"])
        >>> (vectors @ vectors.T).toarray().round(6).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return tf_idf_words(texts)[0]


def tf_idf_words(texts: Sequence[str]) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Return the vectors of `tf_idf` and the words of the columns."""
    counts = [Counter(_WORD.findall(text.casefold())) for text in texts]
    return _weighted(counts, lambda n, df: np.log((1.0 + n) / (1.0 + df)) + 1.0)


def subject_words(texts: Sequence[str]) -> sparse.csr_array:
    """Return the texts by the words of their subjects, (n, words): each word's count times its rarity ln((1 + n) / df).

    Function words, words of the calendar, and words with a digit count nothing; words of most texts count little.

    Examples:
        >>> vectors = subject_words(["Rain on May 5, 2026?", "Will it rain in 2027?", "Snow by May 5, 2026"])
        >>> (vectors @ vectors.T).toarray().round(6).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    counts = [Counter(filter(_is_subject, _WORD.findall(text.casefold()))) for text in texts]
    return _weighted(counts, lambda n, df: np.log((1.0 + n) / df))[0]


def _is_subject(word: str) -> bool:
    return word.isalpha() and word not in FREE_WORDS and word not in CALENDAR_WORDS


def _weighted(
    counts: Sequence[Counter[str]], rarity: Callable[[int, Ints], Floats]
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Return counted words as rows of length 1; `rarity` takes the texts and, for each word, those that have it."""
    number = {word: place for place, word in enumerate(sorted({word for each in counts for word in each}))}
    starts = np.concatenate([[0], np.cumsum([len(each) for each in counts])]).astype(np.int64)
    column = np.fromiter((number[word] for each in counts for word in sorted(each)), dtype=np.int64)
    times = np.fromiter((each[word] for each in counts for word in sorted(each)), dtype=np.float64)
    weight = times * rarity(len(counts), np.bincount(column, minlength=len(number)))[column]
    row = np.repeat(np.arange(len(counts)), np.diff(starts))
    weight /= np.sqrt(np.bincount(row, weight**2, minlength=len(counts)))[row]
    return sparse.csr_array((weight, column, starts), shape=(len(counts), len(number))), tuple(number)
