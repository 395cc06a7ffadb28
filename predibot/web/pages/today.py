"""Today: what was decided and what settled lately, where the outcome surprised, and what runs now or next."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Row

from predibot.jobs.status import status_of
from predibot.ledger.read.details.lately import said_of_settled, under_way
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import newest_decisions
from predibot.scoring.standing import BASELINES
from predibot.web.pages.page import WebPage, records
from predibot.web.shelf import Shelf

_DECISIONS = 12
_SETTLED = 15
_MARKETS = 60
"""Among so many markets that settled last surprises are looked for."""
_SURPRISES = 10
_SURPRISING = 0.5
"""So far from what it paid somebody was more than merely unsure."""
_UNDER_WAY = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """A market that settled, and who was how far off."""

    last: Row[Any]
    """What was said of it last."""
    bots: int
    """How many had a forecast."""
    worst: Row[Any] | None
    """Whose forecast was farthest off; None where only baselines spoke, of whom nobody expects anything."""
    has_page: bool
    """Whether somebody decided on its event, which has a page then."""
    dearest: float | None
    """The price farthest off at which somebody was booked; None where none has one."""

    @property
    def off(self) -> float:
        """Return how far the worst forecast lay from what YES paid, 0 without one."""
        return 0.0 if self.worst is None else abs(self.worst.probability - self.worst.payout_yes)

    @property
    def price_off(self) -> float:
        """Return the same of the price, 0 without one."""
        return 0.0 if self.dearest is None else abs(self.dearest - self.last.payout_yes)


def today_page(shelf: Shelf) -> WebPage:
    """Return what happened lately and what comes next."""
    now = shelf.clock()
    newest, _ = shelf.read(newest_decisions, RowFilter(), limit=_DECISIONS)
    said = shelf.read(said_of_settled, _MARKETS)
    settled = settled_markets(said)
    surprising = [each for each in settled if max(each.off, each.price_off) > _SURPRISING]
    surprises = sorted(surprising, key=lambda each: -max(each.off, each.price_off))[:_SURPRISES]
    return WebPage(
        "today",
        {
            "now": now,
            "rows": newest,
            "under_way": shelf.store.run_read(lambda connection: under_way(connection, now, _UNDER_WAY)),
            "settled": settled[:_SETTLED],
            "looked_at": len(settled),
            "surprises": surprises,
            "status": status_of(shelf.store, shelf.clock),
        },
        {
            "surprises": records([each.worst or each.last for each in surprises]),
            "settled": records([each.last for each in settled[:_SETTLED]]),
            "decisions": records(newest),
        },
    )


def settled_markets(said: Sequence[Row[Any]]) -> list[Settled]:
    """Return markets that settled, in their order, with who was farthest off.

    Args:
        said: All forecasts of each, one market after the other.
    """
    found = []
    for _, group in groupby(said, key=lambda each: (each.event_id, each.market_id)):
        own = list(group)
        thought = [each for each in own if each.strategy not in BASELINES]
        paid = own[0].payout_yes
        prices = [each.price_yes for each in own if each.price_yes is not None]
        found.append(
            Settled(
                last=own[-1],
                bots=len({each.bot for each in own}),
                worst=max(thought, key=lambda each: abs(each.probability - paid), default=None),
                has_page=any(each.subject_kind == "event" for each in own),
                dearest=max(prices, key=lambda price: abs(price - paid), default=None),
            )
        )
    return found
