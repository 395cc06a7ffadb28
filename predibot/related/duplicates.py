"""Duplicates: questions that ask what another one asks, by their texts alone."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from predibot.related.said import QuestionWording, differences, said_by
from predibot.related.texts import Embed, tf_idf
from predibot.scoring.arguments import Floats


@dataclass(frozen=True, slots=True)
class Duplicate:
    """What a text is a duplicate of."""

    of: str
    """The name under which that was kept."""
    similarity: float
    """The cosine of both, in [0, 1]."""


@dataclass(slots=True)
class KeptTexts:
    """The texts seen so far, in the order of their rank; what comes later changes nothing that was said before.

    A text is a duplicate of one that was kept where nothing that `differences`
    looks at differs, and the cosine of both is at least `at_least`. By TF-IDF
    (no `embed`) both are compared as they are spelt after folding, and a word is as rare as
    in the texts seen so far.
    """

    at_least: float
    embed: Embed | None = None
    _seen: list[QuestionWording] = field(default_factory=list)
    _known: Counter[str] = field(default_factory=Counter)
    """How many of them have each word."""
    _kept: dict[frozenset[tuple[str, int]], list[tuple[str, str, QuestionWording]]] = field(default_factory=dict)
    """By the facts, which a duplicate has too: name, text, and what it says."""

    def duplicate(self, name: str, text: str) -> Duplicate | None:
        """Return what a text is a duplicate of, the highest ranked first; else keep it under a name, and return None.

        Args:
            name: What it is called where a later one is its duplicate.
            text: The next one in the order of rank.
        """
        said = said_by(text)
        self._seen.append(said)
        self._known.update(set(said.words))
        for kept_name, kept_text, kept in self._kept.get(said.facts, ()):
            differing = differences(kept, said, self._known)
            if differing is None:
                continue
            like = self._by_words(kept, *differing) if self.embed is None else self._embedded(kept_text, text)
            if like >= self.at_least:
                return Duplicate(kept_name, like)
        self._kept.setdefault(said.facts, []).append((name, text, said))
        return None

    def _by_words(self, kept: QuestionWording, less: Counter[str], more: Counter[str]) -> float:
        """Return the cosine of a text and the same with some words less and some more."""
        words = Counter(kept.telling.split())
        # Facts are said with the same words, and those that count as equal are written alike.
        others = words - less + more
        texts = [" ".join(each.elements()) for each in (words, others)]
        return _cosine(tf_idf([*texts, *(said.telling for said in self._seen)])[[0, 1]].toarray())

    def _embedded(self, kept: str, text: str) -> float:
        vectors = self.embed([kept, text]) if self.embed is not None else np.zeros((2, 1))
        return _cosine(np.asarray(vectors.toarray() if not isinstance(vectors, np.ndarray) else vectors))


def _cosine(rows: Floats) -> float:
    # Rounded, so that equal texts are exactly alike.
    return round(float(np.clip(rows[0] @ rows[1], 0.0, 1.0)), 9)
