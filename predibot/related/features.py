"""Features: four likenesses of two markets, of their texts and jumps among them, and the score S made of them."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from predibot.related.beliefs import Beliefs, MarketPrices
from predibot.related.wording import CALENDAR_WORDS, FREE_WORDS
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.clusters import ROUNDING

MIN_DELTAS = 6
RARE = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Deltas:
    """Changes from one day to the next, (d,) each, sorted by market and day; none across a gap."""

    market: Ints
    day: Ints
    """The later of the two days."""
    change: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ChangePoints:
    """The change points of n markets, (c,) each, sorted by market and day."""

    market: Ints
    day: Ints
    markets: int

    @property
    def counts(self) -> Ints:
        """Return the number of each market's change points, (n,)."""
        return np.bincount(self.market, minlength=self.markets).astype(np.int64)

    def by_day(self, first: int, days: int) -> sparse.csr_array:
        """Return a matrix (n, days) with a 1 for each change point."""
        cells = (np.ones(self.day.size), (self.market, self.day - first))
        return sparse.csr_array(cells, shape=(self.markets, days))


def daily_changes(prices: MarketPrices, *, logits: bool = False) -> Deltas:
    """Return the change of each price, or of its logit, between neighbouring days."""
    values = special.logit(prices.price_yes) if logits else prices.price_yes
    next_day = (np.diff(prices.market) == 0) & (np.diff(prices.day) == 1)
    return Deltas(prices.market[1:][next_day], prices.day[1:][next_day], np.diff(values)[next_day])


def change_points(changes: Deltas, markets: int) -> ChangePoints:
    """Return the days whose change is more than `RARE` standard deviations (ddof 1) off the market's mean change.

    A market with fewer than `MIN_DELTAS` changes, or with equal changes, has none. BeliefBench, section 5.2, names the
    z-score but no threshold.
    """
    n = np.bincount(changes.market, minlength=markets)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(changes.market, changes.change, minlength=markets) / n
        off = changes.change - mean[changes.market]
        deviation = np.sqrt(np.bincount(changes.market, off**2, minlength=markets) / (n - 1))
    largest = np.zeros(markets)
    np.maximum.at(largest, changes.market, np.abs(changes.change))
    has_enough: NDArray[np.bool_] = (n >= MIN_DELTAS) & (deviation > ROUNDING * largest)
    # Rounding must not turn exactly two deviations into more.
    rare = has_enough[changes.market] & (np.abs(off) > RARE * (1.0 + ROUNDING) * deviation[changes.market])
    return ChangePoints(changes.market[rare], changes.day[rare], markets)


def volatile_share(changes: Deltas, markets: int, *, window_days: int, least_deviation: float) -> Floats:
    """Return the share of windows whose daily logit returns vary enough, (n,): equation 2 of BeliefBench.

    A window is a run of returns on consecutive days; NaN for a market without one.

    Args:
        changes: Of logits, in n markets.
        window_days: w, 2 or more.
        least_deviation: gamma, the least standard deviation (ddof 1), 0 or more.
    """
    if changes.change.size < window_days:
        return np.full(markets, np.nan)
    spread = np.lib.stride_tricks.sliding_window_view(changes.change, window_days).std(axis=1, ddof=1)
    last = window_days - 1
    whole = changes.market[last:] == changes.market[: changes.market.size - last]
    whole &= changes.day[last:] - changes.day[: changes.day.size - last] == last
    market, volatile = changes.market[last:][whole], spread[whole] >= least_deviation * (1.0 - ROUNDING)
    with np.errstate(invalid="ignore"):
        share: Floats = np.bincount(market, volatile, minlength=markets) / np.bincount(market, minlength=markets)
    return share


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
    return _weigh(counts, lambda n, df: np.log((1.0 + n) / (1.0 + df)) + 1.0)


def subject_words(texts: Sequence[str]) -> sparse.csr_array:
    """Return the texts by the words of their subjects, (n, words): each word's count times its rarity ln((1 + n) / df).

    Function words, words of the calendar, and words with a digit count nothing; words of most texts count little.

    Examples:
        >>> vectors = subject_words(["Rain on May 5, 2026?", "Will it rain in 2027?", "Snow by May 5, 2026"])
        >>> (vectors @ vectors.T).toarray().round(6).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    counts = [Counter(filter(_is_subject, _WORD.findall(text.casefold()))) for text in texts]
    return _weigh(counts, lambda n, df: np.log((1.0 + n) / df))[0]


def _is_subject(word: str) -> bool:
    return word.isalpha() and word not in FREE_WORDS and word not in CALENDAR_WORDS


def _weigh(
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


WITHIN_DAYS = 2
"""delta: change points closer than this count as one."""
GAP_DAYS = 7.0
"""tau: the distance of change points at which their nearness is one half."""
FEATURES = ("synchrony", "tags", "nearness", "text")
_CELLS_AT_ONCE = 2_000_000
"""16 MB for each array of a block."""
_FREQUENT_SHARE = 0.02
_FREQUENT = 32
"""Columns with more rows than this are multiplied as a dense table, which is faster."""
_DECIMALS = 9
"""Further digits depend on the order of the markets."""
_NEVER = np.iinfo(np.int16).max


@dataclass(frozen=True, slots=True)
class FeatureWeights:
    """The weight of each feature, as a share of 1."""

    synchrony: float = 0.25
    tags: float = 0.25
    nearness: float = 0.25
    text: float = 0.25

    def __post_init__(self) -> None:
        """Refuse weights that are no shares of one."""
        if not all(0.0 <= each <= 1.0 for each in self.each) or abs(sum(self.each) - 1.0) > 1e-9:
            raise ValueError(f"the weights are {self.each}; each is in [0, 1], and they add up to 1")

    @property
    def each(self) -> tuple[float, float, float, float]:
        """Return the weights in the order of `FEATURES`."""
        return self.synchrony, self.tags, self.nearness, self.text


EQUAL = FeatureWeights()


@dataclass(frozen=True, slots=True)
class ScoreForm:
    """How S is made of two markets."""

    weights: FeatureWeights
    words: Embed
    """For texts, where no other model is named."""
    by_subject: bool
    """Whether change points count in proportion to common tags or words."""


PAPER = ScoreForm(EQUAL, tf_idf, by_subject=False)
"""Any change points count, and all words."""
TUNED = ScoreForm(FeatureWeights(synchrony=0.225, tags=0.25, nearness=0.0, text=0.525), subject_words, by_subject=True)
"""Weights fitted to three raters' ratings of pairs; docs/beliefbench.md says how, and with what result."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The features of r markets with c others, (r, c) each, in [0, 1]; NaN where one is missing."""

    synchrony: Floats
    """s1: the share of change points within `WITHIN_DAYS` of one of the other market; mean of both directions."""
    tags: Floats
    """s2: common tags, as a share of all tags of both; missing where neither has any."""
    nearness: Floats
    """s3: 1 / (1 + days between the nearest change points / `GAP_DAYS`)."""
    text: Floats
    """s4: the cosine of their texts; missing where one is empty."""

    @property
    def each(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the features in the order of `FEATURES`."""
        return self.synchrony, self.tags, self.nearness, self.text

    def scores(self, weights: FeatureWeights = EQUAL) -> Floats:
        """Return S, (r, c), in [0, 1]: the weighted mean of the features that are there; NaN without any.

        BeliefBench's equations 3 to 7, which take s1 in one direction and s4 as 1 - cos.
        """
        total, present = np.zeros(self.synchrony.shape), np.zeros(self.synchrony.shape)
        for weight, values in zip(weights.each, self.each, strict=True):
            there = ~np.isnan(values)
            total += np.where(there, weight * values, 0.0)
            present += weight * there
        with np.errstate(invalid="ignore"):
            found = np.clip(total / present, 0.0, 1.0)
        return np.round(found, _DECIMALS)

    def scale_jumps(self) -> Self:
        """Return the block with s1 and s3 times the larger of s2 and s4: without a common subject they mean little."""
        subject = np.nan_to_num(np.fmax(self.tags, self.text))
        return replace(self, synchrony=subject * self.synchrony, nearness=subject * self.nearness)

    def restrict_jumps(self, really: NDArray[np.bool_]) -> Self:
        """Return the block with s1 and s3 only where change points count, by a mask of (r, c)."""
        changed = {name: np.where(really, getattr(self, name), 0.0) for name in ("synchrony", "nearness")}
        return replace(self, **changed)


class Features:
    """Markets that are ready to be compared: sparse words and tags, change points as sorted days."""

    def __init__(self, beliefs: Beliefs, vectors: Vectors | None = None, form: ScoreForm = PAPER) -> None:
        """Prepare n markets; `vectors` are their texts, by the form's words where they are left out."""
        self.n, self.form = beliefs.n, form
        self.points = change_points(daily_changes(beliefs.prices), self.n)
        vectors = form.words(beliefs.texts) if vectors is None else vectors
        self._text = _products(vectors)
        self._has_words = _has_words(vectors)
        names = {name: number for number, name in enumerate(sorted(set().union(*beliefs.tags)))}
        row = np.repeat(np.arange(self.n), [len(each) for each in beliefs.tags])
        column = np.array([names[tag] for each in beliefs.tags for tag in sorted(each)], dtype=np.int64)
        tags = sparse.csr_array((np.ones(row.size), (row, column)), shape=(self.n, len(names)))
        self._tags, self._tag_counts = _products(tags), tags.sum(axis=1)
        first, days = _span(self.points)
        self._days = [days - first for days in np.split(self.points.day, _ends(self.points))]
        self._by_day = self.points.by_day(first, days)
        self._gap = _gaps(self._by_day)

    def points_of(self, row: int) -> list[int]:
        """Return the change points of a market, in days since 1970."""
        own: list[int] = self.points.day[self.points.market == row].tolist()
        return own

    def block(self, rows: slice, columns: slice) -> Block:
        """Return the features of some markets with some others."""
        first, end, _ = rows.indices(self.n)
        ours, theirs = self.points.counts[rows, np.newaxis], self.points.counts[columns]
        gap = self._gap[:, columns]
        near, least = np.zeros((end - first, theirs.size)), np.full((end - first, theirs.size), _NEVER, dtype=np.int16)
        for place, days in enumerate(self._days[first:end]):
            if days.size:
                of_days = gap[days]
                near[place] = (of_days < WITHIN_DAYS).sum(axis=0)
                least[place] = of_days.min(axis=0)
        near_ours = (self._gap[:, rows] < WITHIN_DAYS).astype(np.float64)
        back = (self._by_day[columns] @ near_ours).T
        both = (ours > 0) & (theirs > 0)
        synchrony = np.where(both, (near / np.maximum(ours, 1) + back / np.maximum(theirs, 1)) / 2.0, 0.0)
        nearness = np.where(both, 1.0 / (1.0 + least / GAP_DAYS), 0.0)
        common = self._tags(rows, columns)
        union = self._tag_counts[rows, np.newaxis] + self._tag_counts[columns] - common
        tags = np.divide(common, union, out=np.full(common.shape, np.nan), where=union > 0.0)
        text = np.clip(self._text(rows, columns), 0.0, 1.0)
        text[~(self._has_words[rows, np.newaxis] & self._has_words[columns])] = np.nan
        block = Block(synchrony, tags, nearness, text)
        return block.scale_jumps() if self.form.by_subject else block

    def blocks(self) -> Iterator[tuple[slice, slice, Block]]:
        """Yield rows, columns and features of blocks that hold every pair of markets, some pairs twice."""
        first = 0
        while first < self.n:
            end = min(self.n, first + max(1, _CELLS_AT_ONCE // (self.n - first)))
            rows, columns = slice(first, end), slice(first, self.n)
            yield rows, columns, self.block(rows, columns)
            first = end


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of markets, (k,) each, each once, the first before the second."""

    first: Ints
    second: Ints
    score: Floats


def pairs_from(features: Features, at_least: float) -> Pairs:
    """Return all pairs of markets whose S is at least a limit, sorted by first and second."""
    found: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    for rows, columns, block in features.blocks():
        scores = block.scores(features.form.weights)
        ours, theirs = np.nonzero(scores >= at_least)
        once = ours + rows.start < theirs + columns.start
        ours, theirs = ours[once], theirs[once]
        found.append((ours + rows.start, theirs + columns.start, scores[ours, theirs]))
    return Pairs(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _span(points: ChangePoints) -> tuple[int, int]:
    if not points.day.size:
        return 0, 1
    first = int(points.day.min())
    return first, int(points.day.max()) - first + 1


def _ends(points: ChangePoints) -> Ints:
    return np.searchsorted(points.market, np.arange(1, points.markets))


def _gaps(by_day: sparse.csr_array) -> NDArray[np.int16]:
    """Return the days from each day to each market's nearest change point, (days, n)."""
    there = by_day.toarray().T > 0.0
    days = np.arange(there.shape[0], dtype=np.int32)[:, np.newaxis]
    # Days outside the span are infinitely far.
    before = np.maximum.accumulate(np.where(there, days, np.int32(-_NEVER)), axis=0)
    after = np.minimum.accumulate(np.where(there, days, np.int32(2 * _NEVER))[::-1], axis=0)[::-1]
    nearest: NDArray[np.int16] = np.minimum(np.minimum(days - before, after - days), _NEVER).astype(np.int16)
    return nearest


def _has_words(vectors: Vectors) -> NDArray[np.bool_]:
    squares = (vectors**2).sum(axis=1) if isinstance(vectors, np.ndarray) else vectors.multiply(vectors).sum(axis=1)
    return np.asarray(squares) > 0.0


def _products(vectors: Vectors) -> Callable[[slice, slice], Floats]:
    if isinstance(vectors, np.ndarray):
        dense = vectors
        return lambda rows, columns: np.asarray(dense[rows] @ dense[columns].T, dtype=np.float64)
    frequency = np.bincount(vectors.indices, minlength=vectors.shape[1])
    often = frequency > max(_FREQUENT, _FREQUENT_SHARE * vectors.shape[0])
    table, rest = vectors[:, np.flatnonzero(often)].toarray(), vectors[:, np.flatnonzero(~often)].tocsr()
    return lambda rows, columns: table[rows] @ table[columns].T + (rest[rows] @ rest[columns].T).toarray()
