"""What a baseline may know that no model is shown: the markets behind a pair, and the texts of all pairs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scipy import sparse

from predibot.errors import UsageError
from predibot.related.texts import tf_idf
from predibot.studies.beliefbench.pairs import PairedMarket, PairItem
from predibot.studies.lessons import Learnt, Lessons


@dataclass(frozen=True, slots=True)
class PairReference:
    """What a baseline may know of one pair: never its features, its score or its label."""

    markets: tuple[PairedMarket, PairedMarket]
    _kept: "PairReferences"

    def text_similarity(self) -> float:
        """Return the cosine of both texts by TF-IDF over all questions of the run, in [0, 1]."""
        names, vectors = self._kept.lessons.once(("tfidf",), self._kept.vectors)
        first, second = (vectors[[names[market.id]]] for market in self.markets)
        return min(1.0, max(0.0, float((first @ second.T).toarray()[0, 0])))

    def learnt(self, name: str, learn: Callable[[], Learnt]) -> Learnt:
        """Return what is opened or learnt once for all pairs, such as an encoder."""
        return self._kept.lessons.once(("of the strategy", name), learn)


@dataclass(slots=True)
class PairReferences:
    """What baselines may know of a run's pairs; thread-safe."""

    items: Mapping[str, PairItem]
    """By subject."""
    lessons: Lessons = field(default_factory=Lessons)

    def of(self, subject_id: str) -> PairReference:
        """Return what may be known about a subject.

        Raises:
            UsageError: If there is no such subject.
        """
        item = self.items.get(subject_id)
        if item is None or item.markets is None:
            raise UsageError(f"nothing is known of {subject_id[:60]!r}; a baseline can be asked about pairs of the run")
        return PairReference(item.markets, self)

    def vectors(self) -> tuple[Mapping[str, int], sparse.csr_array]:
        """Return the row of each market of the run, and the words of all, (n, words)."""
        texts = {market.id: market.text for item in self.items.values() for market in item.markets or ()}
        names = sorted(texts)
        return {name: row for row, name in enumerate(names)}, tf_idf([texts[name] for name in names])
