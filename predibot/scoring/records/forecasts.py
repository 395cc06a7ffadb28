"""Forecasts: probabilities of settled questions with their forecasters, as plain arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints, column, instance_of, outcomes_of, refuse, same_length, shares
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord

_OPTIONAL = ("days_ahead", "confidence", "category", "market", "made_at", "exclusive")


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """n forecasts of YES on questions that came out one way or the other.

    They come from a ledger or from any file; scores do not know which.
    """

    forecasters: tuple[str, ...]
    """Names, in the order of the scores."""
    forecaster: Ints
    """Index into `forecasters`, (n,)."""
    question: Ints
    """Forecasters are compared where this number, of a question and its slot, is the same, (n,)."""
    cluster: Ints
    """Rows that come out together by chance, (n,), such as those of an event."""
    probability: Floats
    outcome: Floats
    """(n,): 1 for YES, 0 for NO."""
    market_probability: Floats
    """The market's price at that time, (n,), in [0, 1]; NaN without one."""
    days_ahead: Floats | None = None
    """The time to settlement, (n,), in units of 24 hours."""
    confidence: Floats | None = None
    """The stated confidence, (n,); NaN without one."""
    category: Ints | None = None
    categories: tuple[str, ...] = ()
    market: Ints | None = None
    """Forecasts on one market come out together, (n,). By default each question is a market of its own."""
    made_at: Floats | None = None
    """In seconds, (n,): by default all were made at once."""
    exclusive: Ints | None = None
    """The group of markets in which at most one pays YES, (n,), -1 for none. By default none excludes another."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        instance_of("forecasters", self.forecasters, Sequence)
        for name in self._columns():
            column(name, getattr(self, name))
        same_length(**{name: getattr(self, name) for name in self._columns()})
        shares("probability", self.probability)
        outcomes_of("outcome", self.outcome)
        shares("market_probability", self.market_probability, allow_nan=True)
        limit = len(self.forecasters)
        bad = (self.forecaster < 0) | (self.forecaster >= limit)
        refuse("forecaster", self.forecaster, bad, f"there are {limit} of them, counted from 0")

    def only(self, kept: NDArray[np.bool_] | Ints) -> Self:
        """Return the forecasts in some rows, given as (n,) booleans or numbers; the forecasters stay."""
        changed: dict[str, Any] = {name: getattr(self, name)[kept] for name in self._columns()}
        return replace(self, **changed)

    def squared_errors(self) -> Floats:
        """Return the part of each in the Brier score, (n,)."""
        return (self.probability - self.outcome) ** 2

    def _columns(self) -> tuple[str, ...]:
        named = (name for name in self.__slots__ if name not in ("forecasters", "categories"))
        # Optional columns may be None; any other None is refused later.
        return tuple(name for name in named if name not in _OPTIONAL or getattr(self, name) is not None)


def settled_forecasts(record: TrackRecord) -> Forecasts:
    """Return the forecasts of a record that count, on markets that had paid 0 or 1 by its evaluation.

    Decisions that are not scored and void markets are left out. Two bots were asked the
    same question if the market and the run's slot are the same.

    Raises:
        ValueError: If it is no record.
    """
    instance_of("record", record, TrackRecord)
    payout, rows = record.payouts()[record.bet_market], record.forecast_rows()
    rows = rows[(payout[rows] == 0.0) | (payout[rows] == 1.0)]
    decision, market = record.bet_decision[rows], record.bet_market[rows]
    _, slot = np.unique(record.slots()[decision], return_inverse=True)
    ahead_seconds = record.settled_at[market] - record.decided_at[decision]
    return Forecasts(
        forecasters=record.bots,
        forecaster=record.decision_bot[decision],
        question=slot * max(record.payout_yes.size, 1) + market,
        cluster=record.clusters()[decision],
        probability=record.bet_probability[rows],
        outcome=payout[rows],
        market_probability=record.bet_price_yes[rows],
        days_ahead=ahead_seconds / DAY_SECONDS,
        confidence=None if record.bet_confidence is None else record.bet_confidence[rows],
        category=None if record.decision_category is None else record.decision_category[decision],
        categories=record.categories,
        market=market,
        made_at=record.decided_at[decision],
        exclusive=None if record.market_exclusive is None else record.market_exclusive[market],
    )
