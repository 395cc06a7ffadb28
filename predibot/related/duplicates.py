"""Duplicates: questions that ask the same as another, judged by their texts alone."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from predibot.related.features import Embed, tf_idf
from predibot.related.wording import QuestionWording, differences, parse_wording
from predibot.scoring.arguments import Floats


@dataclass(slots=True)
class TextIndex:
    """The texts so far, by rank; later texts change no earlier verdict.

    A text repeats a kept one if `differences` finds no different fact and their
    cosine is at least `at_least`. Without `embed` that is the cosine of TF-IDF:
    words are compared after folding, and their rarity is that in the texts so far.
    """

    at_least: float
    embed: Embed | None = None
    _seen: list[QuestionWording] = field(default_factory=list)
    _known: Counter[str] = field(default_factory=Counter)
    """By word, the number of texts with it."""
    _kept: dict[frozenset[tuple[str, int]], list[tuple[str, str, QuestionWording]]] = field(default_factory=dict)
    """Name, text and wording of each kept text, by its facts. Duplicates have the same facts."""

    def find_or_keep(self, name: str, text: str) -> tuple[str, float] | None:
        """Return the name of the highest ranked kept text that a text repeats, and the cosine of both, in [0, 1].

        If there is none, keep the text and return None.
        """
        wording = parse_wording(text)
        self._seen.append(wording)
        self._known.update(set(wording.words))
        for kept_name, kept_text, kept in self._kept.get(wording.facts, ()):
            differing = differences(kept, wording, self._known)
            if differing is None:
                continue
            like = self._by_words(kept, *differing) if self.embed is None else self._likeness(kept_text, text)
            if like >= self.at_least:
                return kept_name, like
        self._kept.setdefault(wording.facts, []).append((name, text, wording))
        return None

    def _by_words(self, kept: QuestionWording, less: Counter[str], more: Counter[str]) -> float:
        """Return the cosine of a text and the same text with words taken out and put in."""
        words = Counter(kept.telling.split())
        # Both texts spell their facts alike.
        others = words - less + more
        texts = [" ".join(each.elements()) for each in (words, others)]
        return _cosine(tf_idf([*texts, *(wording.telling for wording in self._seen)])[[0, 1]].toarray())

    def _likeness(self, kept: str, text: str) -> float:
        vectors = self.embed([kept, text]) if self.embed is not None else np.zeros((2, 1))
        return _cosine(np.asarray(vectors.toarray() if not isinstance(vectors, np.ndarray) else vectors))


def _cosine(rows: Floats) -> float:
    # Rounded, so that equal texts are exactly alike.
    return round(float(np.clip(rows[0] @ rows[1], 0.0, 1.0)), 9)
