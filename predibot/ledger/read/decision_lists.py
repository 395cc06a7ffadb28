"""Lists of decisions with what each forecast and bet in short, and how that ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, select

from predibot.ledger.read.row_filter import RowFilter, payouts
from predibot.ledger.read.rows_for_python import LedgerDecision, read_in_order, sort_rows
from predibot.ledger.schema.column_types import bind_list
from predibot.ledger.write.decisions import bets_of, forecasts, of_same_market
from predibot.rows import grouped
from predibot.scoring.metrics.returns import horizon_gains


@dataclass(frozen=True, slots=True)
class BookedForecast:
    """A forecast of one market, its bet, and what the market paid."""

    probability: float
    """The probability of YES, in [0, 1]."""
    price_yes: float | None
    """The booked price of YES, strictly between 0 and 1."""
    booked_usd: float | None
    """Positive on YES, negative on NO."""
    payout_yes: float | None
    """In [0, 1]; None while the market is open, and where stakes were given back."""
    settled_at: datetime | None
    """None while the market is open."""
    gain_usd: float | None
    """What the settled bet gained at the booked price; None without a bet, or while it is open."""


@dataclass(frozen=True, slots=True)
class ListedDecision:
    """A decision with its forecasts."""

    decision: LedgerDecision
    forecasts: tuple[BookedForecast, ...]

    @property
    def settled(self) -> int:
        """Return the number of its markets that are settled."""
        return sum(each.settled_at is not None for each in self.forecasts)

    @property
    def staked_usd(self) -> float:
        """Return the sum of its bets."""
        return sum(abs(each.booked_usd or 0.0) for each in self.forecasts)

    @property
    def gain_usd(self) -> float | None:
        """Return what its settled bets gained; None without any."""
        known = [gain for each in self.forecasts if (gain := each.gain_usd) is not None]
        return sum(known) if known else None


def list_decisions(
    connection: Connection, row_filter: RowFilter, *, limit: int, skip: int = 0, by: str = "slot", rising: bool = False
) -> tuple[ListedDecision, ...]:
    """Return a page of a sorted list of decisions; the arguments are those of `sort_rows`."""
    rows = sort_rows(connection, row_filter, limit=limit, skip=skip, by=by, rising=rising)
    of_row = _forecasts_of(connection, rows)
    found = read_in_order(connection, row_filter, rows)
    return tuple(ListedDecision(each, tuple(of_row[row])) for row, each in zip(rows, found, strict=True))


def _forecasts_of(connection: Connection, rows: Sequence[int]) -> dict[int, list[BookedForecast]]:
    booked = bets_of(bind_list(rows))
    statement: Select[Any] = (
        select(
            *forecasts.c["decision_id", "probability"],
            *booked.c["price_yes", "booked_usd"],
            *payouts.c["payout_yes", "settled_at"],
        )
        .outerjoin(booked, of_same_market(booked, forecasts))
        .outerjoin(payouts, payouts.c.market_row == forecasts.c.market_row)
        .where(forecasts.c.decision_id.in_(bind_list(rows)))
        .order_by(forecasts.c.decision_id, forecasts.c.market_row)
    )
    listed = connection.execute(statement).all()
    settled = [n for n, row in enumerate(listed) if row.booked_usd and row.price_yes is not None and row.settled_at]
    bets_usd, prices, paid = ([listed[n][column] for n in settled] for column in (3, 2, 4))
    # Stakes that were given back gained nothing.
    gained = horizon_gains(bets_usd, prices, [np.nan if each is None else each for each in paid])
    gains = dict(zip(settled, np.nan_to_num(gained).tolist(), strict=True))
    return grouped((row[0], BookedForecast(*(*row[1:], gains.get(n)))) for n, row in enumerate(listed))
