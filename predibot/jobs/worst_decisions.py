"""The worst and the best decisions: the bets that cost or brought most, with their reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.clock import EPOCH
from predibot.ledger.read.details.decisions import reason_of
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.ledger.write.events import market_rows
from predibot.scoring.records.losses import Loss, largest_losses
from predibot.scoring.records.part import EVERYTHING, Part


@dataclass(frozen=True, slots=True)
class WorstDecision:
    """A bet that cost or brought much, with its question and reason."""

    loss: Loss
    reason: Row[Any]

    @property
    def decided_at(self) -> datetime:
        """Return the instant of the decision."""
        return instant_of(self.loss.decided_at)


def worst_decisions(
    store: Store, venue_name: str, as_of: datetime, most: int, part: Part = EVERYTHING
) -> tuple[WorstDecision, ...]:
    """Return the most expensive decisions as of an instant, the dearest first."""
    with store.read() as connection:
        record = track_record(connection, venue_name, as_of, part)
        return with_reasons(connection, venue_name, largest_losses(record, most))


def with_reasons(connection: Connection, venue_name: str, bets: Sequence[Loss]) -> tuple[WorstDecision, ...]:
    """Return bets of a venue's record with their questions and reasons."""
    # In the order of a track record's numbers.
    rows = sorted(market_rows(connection, venue_name).values()) if bets else ()
    found = [
        (bet, reason_of(connection, bot=bet.bot, market_row=rows[bet.market], decided_at=instant_of(bet.decided_at)))
        for bet in bets
    ]
    return tuple(WorstDecision(bet, reason) for bet, reason in found if reason is not None)


def instant_of(seconds: float) -> datetime:
    """Return the instant of a record's seconds since 1970, to the stored microsecond."""
    return EPOCH + timedelta(microseconds=round(seconds * 1e6))
