"""Consistency: how alike a bot answers when it is asked the same again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL, Estimate
from predibot.scoring.inference.uncertainty import Uncertainty, estimates, mean_of
from predibot.scoring.records.track_record import TrackRecord

UNCHANGED_PRICE = 0.01
"""The most that a price may have moved between two days on which a bot was asked the same."""
LEAST_MOVE = 1e-9
"""A price of 0.35 is unchanged from 0.36, whatever their floats say."""
Between = Literal["replicates", "days"]


@dataclass(frozen=True, slots=True)
class Consistency:
    """How far two answers of a bot to the same question lie apart, over all such pairs."""

    bot: str
    between: Between
    """Replicates asked in one slot, or a bot asked on two days on which the price was the same."""
    n: int
    """Pairs of answers."""
    clusters: int
    difference: Estimate
    """The mean absolute difference of the probabilities, in [0, 1]."""
    same_side: Estimate
    """The share of pairs that bet on the same side, or both bet nothing, in [0, 1]."""
    bet_deviation_usd: float
    """The standard deviation of two such bets: the root of half their mean squared difference."""

    @classmethod
    def of(cls, bot: str, between: Between, one: "_Answers", other: "_Answers", uncertainty: Uncertainty) -> Self:
        """Return the consistency over one pair or more, of the first answer of each and the second."""
        alike = (np.sign(one.bet_usd) == np.sign(other.bet_usd)).astype(np.float64)
        difference = estimate_share(np.abs(other.probability - one.probability), one.cluster, uncertainty)
        same_side = estimate_share(alike, one.cluster, uncertainty)
        deviation_usd = float(np.sqrt(np.mean((one.bet_usd - other.bet_usd) ** 2) / 2.0))
        return cls(bot, between, difference.n, difference.clusters, difference, same_side, deviation_usd)


def consistency_of(record: TrackRecord, uncertainty: Uncertainty) -> tuple[Consistency, ...]:
    """Return how consistently each bot answered, where it was asked the same again; missing where it never was.

    Between days a market, a replicate and two decision days in a row with a forecast make a pair, if the price of YES
    moved by at most `UNCHANGED_PRICE`. Intervals resample clusters of events; there is none on fewer than
    `FEWEST_FOR_AN_INTERVAL`. Replicates of the record must be joined.
    """
    rows = _Answers.of(record)
    found = []
    for row, bot in enumerate(record.bots):
        own = rows.only(rows.bot == row)
        pairs: Mapping[Between, Ints] = {"replicates": _between_replicates(own), "days": _between_days(own)}
        for between, (one, other) in pairs.items():
            if one.size:
                found.append(Consistency.of(bot, between, own.only(one), own.only(other), uncertainty))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """The first forecast of each bot and replicate on each market and slot, by these."""

    bot: Ints
    replicate: Ints
    market: Ints
    slot: Floats
    day: Ints
    cluster: Ints
    probability: Floats
    bet_usd: Floats
    price_yes: Floats

    @classmethod
    def of(cls, record: TrackRecord) -> Self:
        rows = record.forecast_rows()
        decision, market = record.bet_decision[rows], record.bet_market[rows]
        bot, slot = record.decision_bot[decision], record.slots()[decision]
        number = record.decision_replicate
        replicate = np.zeros_like(bot) if number is None else number[decision]
        key = np.stack([bot, replicate, market, np.unique(slot, return_inverse=True)[1]]).reshape(4, -1)
        first = np.unique(key, axis=1, return_index=True)[1]
        day, cluster = record.decision_day[decision], record.clusters()[decision]
        said = record.bet_probability[rows], record.bet_usd[rows], record.bet_price_yes[rows]
        return cls(bot, replicate, market, slot, day, cluster, *said).only(first)

    def only(self, kept: NDArray[np.bool_] | Ints) -> Self:
        return type(self)(*(getattr(self, name)[kept] for name in self.__slots__))


def _between_replicates(rows: _Answers) -> Ints:
    """Return both answers of each pair, (2, n), as numbers of rows."""
    slot = np.unique(rows.slot, return_inverse=True)[1]
    question = rows.market * (slot.max(initial=0) + 1) + slot
    of_each = [np.flatnonzero(rows.replicate == number) for number in np.unique(rows.replicate[rows.replicate > 0])]
    pairs = [np.zeros((2, 0), dtype=np.int64)]
    for one, other in combinations(of_each, 2):
        _, first, second = np.intersect1d(question[one], question[other], assume_unique=True, return_indices=True)
        pairs.append(np.stack([one[first], other[second]]))
    return np.concatenate(pairs, axis=1)


def _between_days(rows: _Answers) -> Ints:
    """Return the same of days."""
    order = np.lexsort((rows.slot, rows.market, rows.replicate))
    one, other = order[:-1], order[1:]
    again = (rows.market[one] == rows.market[other]) & (rows.replicate[one] == rows.replicate[other])
    later = rows.day[one] < rows.day[other]
    same = np.abs(rows.price_yes[one] - rows.price_yes[other]) <= UNCHANGED_PRICE + LEAST_MOVE
    return np.stack([one, other])[:, again & later & same]


def estimate_share(values: Floats, clusters: Ints, uncertainty: Uncertainty) -> Estimate:
    """Return the mean of shares in [0, 1], (n,), with its interval over clusters, (n,); none on few clusters.

    Raises `ValueError` if there are none.
    """
    (found,) = estimates([mean_of(values, clusters, (0.0, 1.0))], uncertainty)
    if found is None:
        raise ValueError("there are no shares")
    return found if found.clusters >= FEWEST_FOR_AN_INTERVAL else replace(found, low=None, high=None)
