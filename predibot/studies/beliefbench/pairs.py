"""Pairs of questions: the rows of their data set, what is asked of each, and the draw, the same on every machine."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from predibot.studies.label_game import MAX_MONEY, LabelItem, Rows

LABELS = ("0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0")
"""How related two questions are, by the score that a pair has; the last has its upper end too."""
REASONINGS = ("logical", "causal", "confounding", "narrative")
"""What an answer's reasons may rest on: a judge's labels."""
ACROSS = "across"
"""The domain of a pair whose questions are of two."""


@dataclass(frozen=True, slots=True)
class About:
    """What a data set of pairs was made of."""

    as_of: str
    """The instant, with its zone; nothing later was looked at."""
    venue: str
    """Whose markets they are."""
    seed: int
    """Of the draw of pairs, where there are more than are kept."""
    settings: Mapping[str, float | str]
    """Of the filters, the weights of the features, and what compared the texts."""
    funnel: Mapping[str, int]
    """How many markets and pairs there were at each stage, in order."""
    pairs: Mapping[str, Mapping[str, int]]
    """How many pairs there were, by domain and label, kept or not."""


@dataclass(frozen=True, slots=True)
class PairedMarket:
    """A market that pairs are made of."""

    id: str
    event: str
    title: str
    description: str
    tags: tuple[str, ...]
    """By their slugs."""
    domain: str
    volume_usd: float | None
    """None where the venue does not say."""
    first_on: str
    """The date of its first price; a market is not known to be older."""
    last_on: str
    """The date of its last price by the instant of the data set."""

    def __post_init__(self) -> None:
        """Refuse days that are none or in the wrong order, and a volume that nobody can have traded."""
        first, last = self.days
        if first > last:
            raise ValueError(f"first_on is {self.first_on}, after last_on, which is {self.last_on}")
        if self.volume_usd is not None and not 0.0 <= self.volume_usd <= MAX_MONEY:
            raise ValueError(f"volume_usd is {self.volume_usd:g}; it is an amount of money")

    @property
    def text(self) -> str:
        """Return all that is said of it."""
        return f"{self.title}\n{self.description}"

    @property
    def days(self) -> tuple[int, int]:
        """Return its first and its last day by their ordinals."""
        return date.fromisoformat(self.first_on).toordinal(), date.fromisoformat(self.last_on).toordinal()


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two markets with the features of how they moved and are worded, and the score made of them, each in [0, 1]."""

    first: str
    second: str
    domain: str
    """Of both; `ACROSS` where they differ."""
    synchrony: float
    tags: float | None
    """None where neither has any."""
    nearness: float
    text: float | None
    """None where one says nothing."""
    score: float
    """S."""
    label: str
    """The one of `LABELS` that the score is in."""

    def __post_init__(self) -> None:
        """Refuse a market with itself, numbers outside [0, 1], and a label that the score is not in."""
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
        """Return by what name decisions on it go."""
        return f"{self.first}~{self.second}"

    @property
    def features(self) -> tuple[float | None, ...]:
        """Return them in the order in which they are weighed."""
        return self.synchrony, self.tags, self.nearness, self.text


PAIR_FILES: Mapping[str, type] = {"about": About, "markets": PairedMarket, "pairs": LabelledPair}
"""What a line of each file is, by the file's name without its ending; the first has one line."""


@dataclass(frozen=True, slots=True)
class PairItem(LabelItem):
    """Two questions that a label is asked for."""

    hidden: ClassVar = ("markets", "truth")
    id: str
    texts: tuple[tuple[str, str], tuple[str, str]]
    """The title and the description of each: all that a model is shown."""
    markets: tuple[PairedMarket, PairedMarket] | None = None
    """What baselines may know of them, and no model; None in what a bot is shown, as the next one."""
    truth: LabelledPair | None = None

    @property
    def subject_id(self) -> str:
        """Return by what name decisions on it go."""
        return self.id

    @classmethod
    def from_json(cls, text: str) -> "PairItem":
        """Return the item that `as_json` wrote, with its truth if it is still there.

        Raises:
            ValueError: If it is none.
        """
        try:
            data = json.loads(text)
            first, second = ((str(title), str(description)) for title, description in data["texts"])
            markets, truth = data.get("markets"), data.get("truth")
            known = None
            if markets is not None:
                one, other = map(_market, markets)
                known = one, other
            return cls(data["id"], (first, second), known, None if truth is None else LabelledPair(**truth))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no pair of questions: {error}") from None


def drawn_pairs(
    rows: Rows, *, per_class: int, domains: Collection[str], seed: int
) -> tuple[tuple[PairItem, ...], tuple[str, ...]]:
    """Return what a run asks about, by domain, label and rank, and a note for each domain that lacks pairs of a label.

    Of each domain and label the first pairs by a rank that only the seed and
    the ids of both markets decide.

    Args:
        rows: Of the data set.
        per_class: How many pairs of each domain and label are drawn at most.
        domains: Which of them; empty for all.
        seed: Of the draw.

    Raises:
        ValueError: If there is no such domain, or the rows do not go together.
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
    # Whichever of both markets comes first.
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


def _market(data: Mapping[str, Any]) -> PairedMarket:
    return PairedMarket(**{**data, "tags": tuple(data["tags"])})
