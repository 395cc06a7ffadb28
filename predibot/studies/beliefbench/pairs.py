"""Pairs of questions: the rows of their data set, their items, and the draw, which is the same on every machine."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from predibot.studies.label_game import MAX_MONEY, LabelItem, Rows

LABELS = ("0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0")
"""Ranges of the score S; the last includes its upper end."""
REASONINGS = ("logical", "causal", "confounding", "narrative")
"""A judge's labels: kinds of reasons."""
ACROSS = "across"
"""The domain of a pair of two domains."""


@dataclass(frozen=True, slots=True)
class About:
    """How a data set of pairs was made."""

    as_of: str
    """With its zone; nothing later was read."""
    venue: str
    seed: int
    """For the draw of the kept pairs."""
    settings: Mapping[str, float | str]
    """Filters, weights, and how texts were compared."""
    funnel: Mapping[str, int]
    """Markets and pairs at each stage, in order."""
    pairs: Mapping[str, Mapping[str, int]]
    """All pairs by domain and label, kept or not."""


@dataclass(frozen=True, slots=True)
class PairedMarket:
    """A market of a pair."""

    id: str
    event: str
    title: str
    description: str
    tags: tuple[str, ...]
    """Slugs of its tags."""
    domain: str
    volume_usd: float | None
    """None where the venue does not say."""
    first_on: str
    """The date of its first price."""
    last_on: str
    """The date of its last price by the instant of the data set."""

    def __post_init__(self) -> None:
        """Refuse impossible dates and volumes."""
        first, last = self.days
        if first > last:
            raise ValueError(f"first_on is {self.first_on}, after last_on, which is {self.last_on}")
        if self.volume_usd is not None and not 0.0 <= self.volume_usd <= MAX_MONEY:
            raise ValueError(f"volume_usd is {self.volume_usd:g}; it is an amount of money")

    @property
    def text(self) -> str:
        """Return title and description."""
        return f"{self.title}\n{self.description}"

    @property
    def days(self) -> tuple[int, int]:
        """Return the ordinals of its first and last day."""
        return date.fromisoformat(self.first_on).toordinal(), date.fromisoformat(self.last_on).toordinal()


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two markets with their features and score, each in [0, 1]."""

    first: str
    second: str
    domain: str
    """The common one, or `ACROSS`."""
    synchrony: float
    tags: float | None
    nearness: float
    text: float | None
    score: float
    """S."""
    label: str
    """The range of the score, one of `LABELS`."""

    def __post_init__(self) -> None:
        """Refuse a market with itself, numbers outside [0, 1], and a label that does not fit the score."""
        if self.first == self.second:
            raise ValueError(f"first and second are both {self.first[:60]!r}; a pair is of two markets")
        if not all(0.0 <= each <= 1.0 for each in (self.score, *self.features) if each is not None):
            raise ValueError(f"the score is {self.score:g}, of {self.features}; each is in [0, 1]")
        if self.label not in LABELS:
            raise ValueError(f"the label is {self.label[:20]!r}; it is one of {', '.join(LABELS)}")
        low, high = map(float, self.label.split("-"))
        if not (low <= self.score < high or self.score == high == 1.0):
            raise ValueError(f"the label is {self.label} and the score {self.score:g}, which is outside of it")

    @property
    def id(self) -> str:
        """Return the subject of decisions on it."""
        return f"{self.first}~{self.second}"

    @property
    def features(self) -> tuple[float | None, ...]:
        """Return the features in the order of `FEATURES`."""
        return self.synchrony, self.tags, self.nearness, self.text


PAIR_FILES: Mapping[str, type] = {"about": About, "markets": PairedMarket, "pairs": LabelledPair}
"""What a line of each file is, by the file's name without its ending; the first has one line."""


@dataclass(frozen=True, slots=True)
class PairItem(LabelItem):
    """Two questions to be labelled."""

    noun: ClassVar = "pair of questions"
    hidden: ClassVar = ("markets", "truth")
    id: str
    texts: tuple[tuple[str, str], tuple[str, str]]
    """Title and description of each: all that a model is shown."""
    markets: tuple[PairedMarket, PairedMarket] | None = None
    """For baselines only; no model is shown them."""
    truth: LabelledPair | None = None

    @property
    def subject_id(self) -> str:
        """Return the subject of decisions on it."""
        return self.id


def draw_pairs(
    rows: Rows, *, per_class: int, domains: Collection[str], seed: int
) -> tuple[tuple[PairItem, ...], tuple[str, ...]]:
    """Return the items of a run by domain, label and rank, and a note for each domain that lacks pairs of a label.

    The rank of a pair depends only on the seed and the ids of both markets. Raises `ValueError` if there is no such
    domain, or the rows do not go together.
    """
    found: dict[str, dict[str, list[LabelledPair]]] = defaultdict(lambda: defaultdict(list))
    for pair in rows("pairs"):
        found[pair.domain][pair.label].append(pair)
    if unknown := [name for name in domains if name not in found]:
        raise ValueError(f"no pair is of domain {unknown[0][:40]!r}; there are {', '.join(sorted(found))}")
    chosen: list[LabelledPair] = []
    notes = []
    for domain in sorted(domains or found):
        few = []
        for label in LABELS:
            pairs = sorted(found[domain][label], key=lambda pair: (_rank(seed, pair.id), pair.id))[:per_class]
            chosen += pairs
            few += [f"{label}: {len(pairs)}"] if len(pairs) < per_class else []
        if few:
            notes.append(f"{domain} has fewer than {per_class} pairs of some labels ({', '.join(few)})")
    # In either order.
    if twice := [names for names, n in Counter(tuple(sorted((p.first, p.second))) for p in chosen).items() if n > 1]:
        raise ValueError(f"{'~'.join(twice[0])[:60]} is there more than once; make the data set again")
    return _items(chosen, rows("markets")), tuple(notes)


def _rank(seed: int, id_: str) -> bytes:
    return hashlib.sha256(f"{seed}|{id_}".encode()).digest()


def _items(chosen: Iterable[LabelledPair], markets: Iterable[PairedMarket]) -> tuple[PairItem, ...]:
    chosen = list(chosen)
    wanted = {name for pair in chosen for name in (pair.first, pair.second)}
    known: dict[str, PairedMarket] = {}
    for market in markets:
        if market.id in wanted and known.setdefault(market.id, market) is not market:
            raise ValueError(f"market {market.id[:60]!r} is there more than once; make the data set again")
    if missing := sorted(wanted - known.keys()):
        raise ValueError(f"a pair names market {missing[0][:60]!r}, which is not among the markets")
    found = []
    for pair in chosen:
        first, second = known[pair.first], known[pair.second]
        texts = ((first.title, first.description), (second.title, second.description))
        found.append(PairItem(pair.id, texts, (first, second), pair))
    return tuple(found)
