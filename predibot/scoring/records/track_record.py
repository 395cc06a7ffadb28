"""The record: what every bot did and what prices did, as plain arrays, and the settled forecasts in it or in a file."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from predibot.domain.decision import STATUSES
from predibot.scoring.arguments import (
    Floats,
    Ints,
    column,
    instance_of,
    outcomes_of,
    refuse,
    same_length,
    scalar,
    shares,
)
from predibot.scoring.records.knowledge import CLEAN, KNOWLEDGE, UNKNOWN

_RECORDED, _ABSTAINED = STATUSES.index("recorded"), STATUSES.index("abstained")
DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class TrackRecord:
    """The data of all scorecards, as known at an instant.

    There are n_d decisions of any status, n_b bets, n_m markets and n_o price observations. A recorded decision has one
    bet row for each of its markets, zero bets too. One that abstained may have rows without bet and forecast, whose
    prices the market baseline uses; the others have none. Instants are seconds since 1970 in UTC, as
    `datetime.timestamp()` writes them: whole microseconds. Unknown numbers are NaN.
    """

    as_of: float
    """The instant of the evaluation: nothing later counts, even if it is here."""
    bots: tuple[str, ...]
    """Distinct, in the order of the scorecards."""

    decision_bot: Ints
    """Index into `bots`, (n_d,)."""
    decision_status: NDArray[np.int8]
    """Index into `domain.decision.STATUSES`, (n_d,)."""
    decided_at: Floats
    """When the answer was accepted, or the attempt ended, (n_d,)."""
    decision_day: Ints
    """The UTC date of the run's slot in days since 1970, (n_d,): one return a date."""
    decision_event: Ints
    """The same number on all dates, (n_d,); a cluster by itself, unless `decision_cluster` joins it."""
    decision_cost_usd: Floats
    """(n_d,); NaN where a part is unknown."""
    decision_cost_known_usd: Floats

    bet_decision: Ints
    bet_market: Ints
    bet_usd: Floats
    """Booked dollars, (n_b,): positive bought YES, negative NO."""
    bet_price_yes: Floats
    """p0, the price of YES it was booked at, (n_b,), strictly between 0 and 1."""
    bet_probability: Floats
    """The forecast of YES, (n_b,), in [0, 1]; NaN without one."""

    payout_yes: Floats
    """The payout of YES, (n_m,), in [0, 1]; NaN where the market is not settled."""
    settled_at: Floats
    """The instant of the payout, (n_m,); NaN where the market is not settled."""

    observation_market: Ints
    observation_at: Floats
    """(n_o,); of equal instants of a market the last row wins."""
    observation_price_yes: Floats

    decision_knowledge: NDArray[np.int8] | None = None
    """What its models can have known, an index into `KNOWLEDGE`, (n_d,). By default all are clean."""
    counted: Literal["clean", "unknown"] = "clean"
    """The knowledge of decisions that count; those with models without a known cutoff are scored apart (`apart`)."""
    decision_slot: Floats | None = None
    """The instant of the run's slot, (n_d,): decisions are compared by it. By default the date's start."""
    decision_run: Ints | None = None
    """The same number for all decisions of a run, (n_d,). By default there is only one run."""
    decision_replicate: Ints | None = None
    """Which replicate of its bot decided, counted from 1, (n_d,); 0 for a bot without. By default none has any."""
    decision_category: Ints | None = None
    categories: tuple[str, ...] = ()
    baselines: frozenset[str] = frozenset()
    event_names: Mapping[int, str] = field(default_factory=dict)
    """By event; an event without a name is called by its number."""
    decision_cluster: Ints | None = None
    """The same number for all decisions on an event or on related ones, (n_d,). By default each event by itself."""

    bet_said: Floats | None = None
    """The stated probability that was normalised before the bet, (n_b,); NaN for all others."""
    bet_confidence: Floats | None = None
    """The stated confidence, (n_b,), from 0 to 10; NaN without one."""
    bet_bid_yes: Floats | None = None
    """The bid of YES when the bet was booked, (n_b,), in [0, 1]; NaN where nobody bid."""
    bet_ask_yes: Floats | None = None
    """The ask of YES then, (n_b,), in [0, 1]; NaN where nobody asked."""
    bet_fee_rate: Floats | None = None
    """The rate of the taker's fee, (n_b,), zero or more; NaN where the venue states none."""
    bet_fee_exponent: Floats | None = None
    bet_least_shares: Floats | None = None
    """The least size of an order that waits in the book, (n_b,); NaN where the venue states none."""

    asked_decision: Ints | None = None
    """The decision of each market that was asked, (n_a,): of any status, failed ones too.

    By default every decision was asked about the markets of its bet rows, and one
    that abstained has its `settled` value from the start.
    """
    asked_market: Ints | None = None
    """The row of the market that was asked, (n_a,), once a decision."""
    market_exclusive: Ints | None = None
    """The group of markets in which at most one pays YES, (n_m,), -1 for none. By default none excludes another."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        instance_of("bots", self.bots, tuple)
        if len(set(self.bots)) < len(self.bots):
            raise ValueError(f"bots are named twice: {', '.join(self.bots)}")
        if not np.isfinite(scalar("as_of", self.as_of)):
            raise ValueError(f"as_of is {self.as_of!r}; give seconds since 1970")
        if (self.asked_decision is None) != (self.asked_market is None):
            raise ValueError("of asked_decision and asked_market one is left out; give both, or neither")
        for prefixes in _TABLES:
            self._check_lengths(prefixes)
        self._check_rows()
        self._check_values()

    def made_mask(self) -> NDArray[np.bool_]:
        """Return which decisions had been made by the evaluation, (n_d,)."""
        return self.decided_at <= self.as_of

    def scored_mask(self) -> NDArray[np.bool_]:
        """Return which decisions made by then count for scores, (n_d,): those whose knowledge is `counted`."""
        counted: NDArray[np.bool_] = self.made_mask() & (self.knowledge() == KNOWLEDGE.index(self.counted))
        return counted

    def staked_mask(self) -> NDArray[np.bool_]:
        """Return which decisions have money on anything, (n_d,)."""
        staked = np.zeros(self.decided_at.shape, dtype=np.bool_)
        staked[self.bet_decision[self.bet_usd != 0.0]] = True
        return staked

    def knowledge(self) -> NDArray[np.int8]:
        """Return what the models of each decision can have known, (n_d,), as indices into `KNOWLEDGE`."""
        known = self.decision_knowledge
        return np.full(self.decided_at.shape, CLEAN, dtype=np.int8) if known is None else known

    def apart(self) -> Self | None:
        """Return the record of the decisions that are scored apart, with only their bots; None without any."""
        unknown = self._unknown()
        return replace(self.with_bots_of(unknown), counted="unknown") if unknown.any() else None

    def without_apart(self) -> Self:
        """Return the record without the bots whose decisions are all scored apart."""
        unknown = self._unknown()
        only_apart = ~np.isin(self.decision_bot, self.decision_bot[self.made_mask() & ~unknown])
        dropped = only_apart & np.isin(self.decision_bot, self.decision_bot[unknown])
        return self.with_bots_of(~dropped) if dropped.any() else self

    def _unknown(self) -> NDArray[np.bool_]:
        unknown: NDArray[np.bool_] = self.made_mask() & (self.knowledge() == UNKNOWN)
        return unknown

    def with_bots_of(self, kept: NDArray[np.bool_]) -> Self:
        """Return the record of some decisions, (n_d,) booleans, with only their bots."""
        present, index = np.unique(self.decision_bot[kept], return_inverse=True)
        bots = tuple(self.bots[row] for row in present)
        return replace(self.only(kept), decision_bot=index.astype(np.int64), bots=bots)

    def clusters(self) -> Ints:
        """Return the cluster of each decision, (n_d,)."""
        return self.decision_event if self.decision_cluster is None else self.decision_cluster

    def slots(self) -> Floats:
        """Return the instant of each decision's slot, (n_d,)."""
        if self.decision_slot is not None:
            return self.decision_slot
        return np.multiply(self.decision_day, DAY_SECONDS, dtype=np.float64)

    def cells(self) -> Ints:
        """Return a number for the bot, event and slot of each decision, (n_d,): decisions of one cell are averaged."""
        cell = np.zeros(self.decided_at.size, dtype=np.int64)
        for labels in (self.slots(), self.decision_event, self.decision_bot):
            codes, code = np.unique(labels, return_inverse=True)
            cell = np.unique(cell * max(codes.size, 1) + code, return_inverse=True)[1].astype(np.int64)
        return cell

    def only(self, kept: NDArray[np.bool_]) -> Self:
        """Return the record of some decisions, (n_d,) booleans, with their bets; all else stays."""
        row = np.cumsum(kept) - 1
        changed: dict[str, Any] = {}
        for names, rows in (
            (_OF_DECISION, kept),
            (_OF_BET, kept[self.bet_decision]),
            (_OF_ASKED, None if self.asked_decision is None else kept[self.asked_decision]),
        ):
            changed |= {name: array[rows] for name in names if (array := getattr(self, name)) is not None}
        changed |= {name: row[changed[name]] for name in ("bet_decision", "asked_decision") if name in changed}
        return replace(self, **changed)

    def with_bets(self, order: Ints) -> Self:
        """Return the record with the same bets in another order."""
        found = copy(self)
        # Nothing else changes, so nothing needs a check.
        for name in _OF_BET:
            if (array := getattr(self, name)) is not None:
                object.__setattr__(found, name, array[order])
        return found

    def payouts(self) -> Floats:
        """Return the payout of each market by the evaluation, (n_m,), NaN where it was not settled."""
        return np.where(self.settled_at <= self.as_of, self.payout_yes, np.nan)

    def forecast_rows(self) -> Ints:
        """Return the bet rows of scored decisions that have a forecast."""
        return np.flatnonzero(~np.isnan(self.bet_probability) & self.scored_mask()[self.bet_decision])

    def questions(self) -> tuple[Ints, Ints]:
        """Return the decision and the market of every question, (n_a,) each."""
        if self.asked_decision is None or self.asked_market is None:
            return self.bet_decision, self.bet_market
        return self.asked_decision, self.asked_market

    def _check_lengths(self, prefixes: tuple[str, ...]) -> None:
        present = {name: getattr(self, name) for name in self.__slots__ if name.startswith(prefixes)}
        arrays: dict[str, NDArray[Any]] = {name: array for name, array in present.items() if array is not None}
        for name, array in arrays.items():
            column(name, array)
        same_length(**arrays)

    def _check_rows(self) -> None:
        decisions, markets = self.decided_at.size, self.payout_yes.size
        limits = {
            "decision_bot": len(self.bots),
            "decision_status": len(STATUSES),
            "bet_decision": decisions,
            "bet_market": markets,
            "observation_market": markets,
            "decision_knowledge": len(KNOWLEDGE),
            "decision_category": len(self.categories),
            "asked_decision": decisions,
            "asked_market": markets,
        }
        for name, limit in limits.items():
            rows = getattr(self, name)
            if rows is None:
                continue
            if rows.size and rows.dtype.kind not in "iu":
                raise ValueError(f"{name} holds {rows.dtype}; it must hold whole numbers")
            refuse(name, rows, (rows < 0) | (rows >= limit), f"there are {limit} of them, counted from 0")
        status = self.decision_status[self.bet_decision]
        answered = np.isin(status, (_RECORDED, _ABSTAINED))
        refuse("bet_decision", self.bet_decision, ~answered, "a refused or failed decision has no bets")
        staked = (status == _ABSTAINED) & ((self.bet_usd != 0.0) | ~np.isnan(self.bet_probability))
        refuse("bet_decision", self.bet_decision, staked, "one that abstained has neither bets nor forecasts")
        if self.decision_cluster is not None and self.decision_cluster.size:
            _, event = np.unique(self.decision_event, return_inverse=True)
            first = np.zeros(int(event.max()) + 1, dtype=np.int64)
            first[event] = self.decision_cluster
            apart = first[event] != self.decision_cluster
            refuse("decision_cluster", self.decision_cluster, apart, "an event is in one cluster")
        if self.market_exclusive is not None and self.market_exclusive.dtype.kind != "i":
            raise ValueError(f"market_exclusive holds {self.market_exclusive.dtype}; it must hold whole numbers")

    def _check_values(self) -> None:
        for name in ("decided_at", "decision_cost_known_usd", "bet_usd", "observation_at"):
            array = getattr(self, name)
            refuse(name, array, ~np.isfinite(array), "each must be a finite number")
        for name, most in _AT_MOST.items():
            array = getattr(self, name)
            if array is not None:
                refuse(name, array, (array < 0.0) | (array > most), f"each must be in [0, {most:g}] or NaN")
        seen, entry = self.observation_price_yes, self.bet_price_yes
        refuse("observation_price_yes", seen, ~((seen >= 0.0) & (seen <= 1.0)), "each must be in [0, 1]")
        refuse("bet_price_yes", entry, ~((entry > 0.0) & (entry < 1.0)), "each must be strictly between 0 and 1")
        halves = np.isnan(self.payout_yes) != np.isnan(self.settled_at)
        refuse("settled_at", self.settled_at, halves, "a market has a payout and its instant, or neither")


_AT_MOST = {
    "bet_probability": 1.0,
    "payout_yes": 1.0,
    "bet_said": 1.0,
    "bet_confidence": 10.0,
    "bet_bid_yes": 1.0,
    "bet_ask_yes": 1.0,
    "bet_fee_rate": np.inf,
    "bet_fee_exponent": np.inf,
    "bet_least_shares": np.inf,
}
_OF_DECISION = tuple(name for name in TrackRecord.__slots__ if name.startswith(("decision_", "decided_at")))
_OF_BET = tuple(name for name in TrackRecord.__slots__ if name.startswith("bet_"))
_OF_ASKED = ("asked_decision", "asked_market")
_TABLES = (
    ("decision", "decided"),
    ("bet_",),
    ("asked_",),
    ("payout", "settled_at", "market_exclusive"),
    ("observation",),
)
"""Prefixes of the arrays that have equally many rows."""


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
