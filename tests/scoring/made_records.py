"""Records: a short way to write down what bots did and what prices did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.domain.decision import STATUSES, Status
from predibot.scoring import KNOWLEDGE, TrackRecord
from predibot.scoring.records.knowledge import Knowledge

DAY = 86_400.0
NAN = float("nan")


@dataclass(frozen=True)
class Bet:
    """A bet of a test: dollars on a market at a price, and a forecast."""

    market: int
    usd: float = 1.0
    price_yes: float = 0.5
    probability: float = NAN
    confidence: float = NAN
    bid: float = NAN
    ask: float = NAN
    fee_rate: float = NAN
    fee_exponent: float = 1.0
    least_shares: float = NAN


@dataclass(frozen=True)
class Made:
    """A decision of a test; `at` and `slot` are in days, and left out the slot is the start of the date."""

    bot: str = "bot"
    at: float = 0.0
    bets: tuple[Bet, ...] = ()
    status: Status = "recorded"
    cost_usd: float = 0.0
    cost_known_usd: float = 0.0
    knowledge: Knowledge = "clean"
    event: int = 0
    slot: float | None = None
    category: str = ""


@dataclass(frozen=True)
class Seen:
    """An observation of a test; `at` is in days."""

    market: int
    at: float
    price_yes: float


@dataclass(frozen=True)
class Paid:
    """A settlement of a test; `at` is in days."""

    at: float
    payout_yes: float


def record_of(
    made: Sequence[Made],
    *,
    as_of: float,
    seen: Sequence[Seen] = (),
    paid: Mapping[int, Paid] | None = None,
    bots: Sequence[str] | None = None,
) -> TrackRecord:
    """Return the record of a few decisions; `as_of` is in days. What nobody stated is left out of it."""
    paid = paid or {}
    bots = tuple(bots if bots is not None else dict.fromkeys(one.bot for one in made))
    bets = [(row, bet) for row, one in enumerate(made) for bet in one.bets]
    categories = tuple(sorted({one.category for one in made}))
    knowledge = np.array([KNOWLEDGE.index(one.knowledge) for one in made], dtype=np.int8)
    markets = 1 + max([bet.market for _, bet in bets] + [one.market for one in seen] + list(paid), default=-1)
    return TrackRecord(
        as_of=as_of * DAY,
        bots=bots,
        decision_bot=np.array([bots.index(one.bot) for one in made], dtype=np.int64),
        decision_status=np.array([STATUSES.index(one.status) for one in made], dtype=np.int8),
        decided_at=np.array([one.at * DAY for one in made], dtype=float),
        decision_day=np.array([int(one.at // 1) for one in made], dtype=np.int64),
        decision_event=np.array([one.event for one in made], dtype=np.int64),
        decision_cost_usd=np.array([one.cost_usd for one in made], dtype=float),
        decision_cost_known_usd=np.array([one.cost_known_usd for one in made], dtype=float),
        bet_decision=np.array([row for row, _ in bets], dtype=np.int64),
        bet_market=np.array([bet.market for _, bet in bets], dtype=np.int64),
        bet_usd=np.array([bet.usd for _, bet in bets], dtype=float),
        bet_price_yes=np.array([bet.price_yes for _, bet in bets], dtype=float),
        bet_probability=np.array([bet.probability for _, bet in bets], dtype=float),
        payout_yes=np.array([paid[m].payout_yes if m in paid else NAN for m in range(markets)], dtype=float),
        settled_at=np.array([paid[m].at * DAY if m in paid else NAN for m in range(markets)], dtype=float),
        observation_market=np.array([one.market for one in seen], dtype=np.int64),
        observation_at=np.array([one.at * DAY for one in seen], dtype=float),
        observation_price_yes=np.array([one.price_yes for one in seen], dtype=float),
        decision_knowledge=knowledge if knowledge.any() else None,
        decision_slot=(
            np.array([int(one.at // 1) if one.slot is None else one.slot for one in made], dtype=float) * DAY
            if any(one.slot is not None for one in made)
            else None
        ),
        decision_category=(
            np.array([categories.index(one.category) for one in made], dtype=np.int64) if any(categories) else None
        ),
        categories=categories if any(categories) else (),
        bet_confidence=_stated([bet.confidence for _, bet in bets]),
        bet_bid_yes=_stated([bet.bid for _, bet in bets]),
        bet_ask_yes=_stated([bet.ask for _, bet in bets]),
        bet_fee_rate=_stated([bet.fee_rate for _, bet in bets]),
        bet_fee_exponent=np.array([bet.fee_exponent for _, bet in bets], dtype=float),
        bet_least_shares=_stated([bet.least_shares for _, bet in bets]),
    )


def _stated(values: Sequence[float]) -> NDArray[np.float64] | None:
    array = np.array(values, dtype=float)
    return None if np.isnan(array).all() else array
