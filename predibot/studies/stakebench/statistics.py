"""The make-up of a data set of comments: platforms, lengths, stakes, months, topics, and who has a position."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.label_game import Rows
from predibot.studies.stakebench.data_set import LabelledComment
from predibot.studies.stakebench.scores.significance import BIAS_COLUMNS, coverage_bias, independence_p_value

TIERS = (
    ("Retail", 0.0),
    ("Small", 100.0),
    ("Medium", 500.0),
    ("Large", 1_000.0),
    ("XLarge", 5_000.0),
    ("Whale", 10_000.0),
    ("Mega", 50_000.0),
)
"""Name and least stake of each tier, by magnitude, in the venue's currency."""
_PERCENTILES = (10, 25, 50, 75, 90)
NUMBERS = ("length", "written", "volume", "days left")
"""In what holders are compared with others, besides topics."""


@dataclass(slots=True)
class _Platform:
    """The counts of a platform; lists have an element for each comment."""

    writers: list[tuple[str, str]] = field(default_factory=list)
    """Market and writer."""
    lengths: list[int] = field(default_factory=list)
    volumes: list[float] = field(default_factory=list)
    days_left: list[float] = field(default_factory=list)
    holds: list[bool] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    once: dict[int, str] = field(default_factory=dict)
    """Topic of each comment by a hash of it; markets of one series show the same comments."""
    stakes: list[float] = field(default_factory=list)
    """Stakes of the writers who hold a position."""
    months: Counter[str] = field(default_factory=Counter)
    actions: int = 0
    windows: int = 0
    priced: int = 0

    def add(self, row: LabelledComment) -> None:
        self.writers.append((row.market, row.user))
        self.lengths.append(len(row.text))
        self.volumes.append(row.volume)
        self.days_left.append(row.days_left)
        self.holds.append(row.side is not None)
        self.topics.append(row.split)
        self.once.setdefault(hash((row.user, row.at, row.text)), row.split)
        if row.side is not None:
            self.stakes.append(abs(row.size))
        self.months[row.at[:7]] += 1
        self.actions += row.action is not None
        self.priced += row.price_yes is not None


def describe(rows: Rows) -> tuple[StudyTable, ...]:
    """Return the paper's tables 1, 16, 18 and 19 of a data set, and how holders differ from others in all of it.

    The files are read once; a few numbers of each comment are kept in memory, and no text.
    """
    found: dict[str, _Platform] = {}
    for row in rows("comments"):
        found.setdefault(row.platform, _Platform()).add(row)
    for window in rows("windows"):
        found.setdefault(window.platform, _Platform()).windows += 1
    platforms = dict(sorted(found.items()))
    return tuple(
        StudyTable.of(name, title, columns, [row for item in platforms.items() for row in make(*item)], note)
        for name, title, columns, make, note in _TABLES
    )


def _platform(name: str, of: _Platform) -> Iterator[tuple[Cell, ...]]:
    n = len(of.lengths)
    if n:
        markets, users = Counter(market for market, _ in of.writers), len({user for _, user in of.writers})
        middle = (round(median(of.lengths)), round(median(markets.values())))
        counts = (sum(of.holds), of.actions, of.windows)
        shares = (sum(of.holds) / n, of.priced / n)
        yield (name, n, len(of.once), len(markets), users, min(of.months), max(of.months), *middle, *shares, *counts)


def _lengths(name: str, of: _Platform) -> Iterator[tuple[Cell, ...]]:
    if of.lengths:
        yield (name, *(round(float(each)) for each in np.percentile(of.lengths, _PERCENTILES)), max(of.lengths))


def _tiers(name: str, of: _Platform) -> Iterator[tuple[Cell, ...]]:
    starts = [start for _, start in TIERS]
    counted = np.bincount(np.searchsorted(starts, of.stakes, side="right") - 1, minlength=len(TIERS)).tolist()
    for (tier, start), n in zip(TIERS, counted if of.stakes else (), strict=False):
        yield (name, tier, int(start), n, n / len(of.stakes))


def _months(name: str, of: _Platform) -> Iterator[tuple[Cell, ...]]:
    return ((name, month, n) for month, n in sorted(of.months.items()))


def _topics(name: str, of: _Platform) -> Iterator[tuple[Cell, ...]]:
    once = Counter(of.once.values())
    for topic, n in Counter(of.topics).most_common():
        yield (name, topic, n, n / len(of.topics), once[topic], once[topic] / len(of.once))


def _coverage(name: str, of: _Platform) -> Iterator[tuple[Cell, ...]]:
    if not any(of.holds) or all(of.holds):
        return
    written = Counter(of.writers)
    values: Sequence[Sequence[float]] = (of.lengths, [written[who] for who in of.writers], of.volumes, of.days_left)
    for what, numbers in zip(NUMBERS, values, strict=True):
        yield (name, what, *coverage_bias(numbers, of.holds))
    yield (name, "topic", None, None, None, independence_p_value(of.holds, of.topics))


_OF_PLATFORM = ("comments", "once", "markets", "users", "from", "to", "length", "a market", "hold", "priced")
_ONCE = "once: without the copies of comments that markets of one series share."
_TABLES = (
    (
        "1",
        "Platforms",
        ("platform", *_OF_PLATFORM, "positions", "G3", "G4 windows"),
        _platform,
        f"{_ONCE} length and a market: medians of characters and of comments. hold and priced: shares of the comments.",
    ),
    (
        "16A",
        "Table 16A. Characters of a comment",
        ("platform", *(f"p{each}" for each in _PERCENTILES), "max"),
        _lengths,
        "Of comments that passed cleaning, which takes out those below 30 characters.",
    ),
    (
        "16B",
        "Table 16B. Stakes of comments with a position",
        ("platform", "tier", "from stake", "n", "share"),
        _tiers,
        "",
    ),
    ("18", "Comments by month", ("platform", "month", "n"), _months, ""),
    ("19", "Comments by topic", ("platform", "topic", "n", "share", "once", "once share"), _topics, _ONCE),
    (
        "coverage",
        "Holders against others, of all comments",
        ("platform", "what", *BIAS_COLUMNS),
        _coverage,
        "p: Mann and Whitney's test; for topics the chi-squared test.",
    ),
)
