"""The page of today: new decisions, settled markets, surprising outcomes, and what runs now or next."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Row

from predibot.jobs.status import status_of
from predibot.ledger.read.details.bots import list_settled_forecasts
from predibot.ledger.read.event_lists import list_decisions
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.standing import under_way
from predibot.scoring.standing import BASELINES
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import WebPage, records

_DECISIONS = 12
_SETTLED = 15
_MARKETS = 60
"""Number of markets, the last settled ones, that surprises are looked for in."""
_SURPRISES = 10
_SURPRISING = 0.5
"""A forecast or price so far from the payout was wrong, not merely unsure."""
_UNDER_WAY = 20


@dataclass(frozen=True, slots=True)
class SettledMarket:
    """A settled market, with the forecast and the price that were farthest off."""

    last: Row[Any]
    """The last forecast on it."""
    bots: int
    worst: Row[Any] | None
    """The forecast farthest off; None if only baselines forecast, which need no knowledge."""
    has_page: bool
    """Whether somebody decided on its event, which has a page then."""
    dearest: float | None
    """The booked price farthest off; None without one."""

    @property
    def off(self) -> float:
        """Return the distance of the worst forecast from the payout of YES, 0 without one."""
        return 0.0 if self.worst is None else abs(self.worst.probability - self.worst.payout_yes)

    @property
    def price_off(self) -> float:
        """Return the distance of the farthest price from that payout, 0 without one."""
        return 0.0 if self.dearest is None else abs(self.dearest - self.last.payout_yes)


def today_page(cache: LedgerCache) -> WebPage:
    """Return what happened lately and what comes next."""
    now = cache.clock()
    newest = cache.read(list_decisions, RowFilter(), limit=_DECISIONS)
    said = cache.read(list_settled_forecasts, _MARKETS)
    settled = settled_markets(said)
    surprising = [each for each in settled if max(each.off, each.price_off) > _SURPRISING]
    surprises = sorted(surprising, key=lambda each: -max(each.off, each.price_off))[:_SURPRISES]
    return WebPage(
        "today",
        {
            "now": now,
            "rows": newest,
            "under_way": decisions_under_way(cache),
            "settled": settled[:_SETTLED],
            "looked_at": len(settled),
            "surprises": surprises,
            "status": status_of(cache.store, cache.clock),
        },
        {
            "surprises": records([each.worst or each.last for each in surprises]),
            "settled": records([each.last for each in settled[:_SETTLED]]),
            "decisions": records([each.decision for each in newest]),
        },
    )


def decisions_under_way(cache: LedgerCache) -> Sequence[Row[Any]]:
    """Return some decisions that bots are making now."""
    return cache.store.run_read(lambda connection: under_way(connection, cache.clock(), _UNDER_WAY))


def settled_markets(said: Sequence[Row[Any]]) -> list[SettledMarket]:
    """Return settled markets in order; `said` has all forecasts of one market after the other."""
    found = []
    for _, group in groupby(said, key=lambda each: (each.event_id, each.market_id)):
        own = list(group)
        thought = [each for each in own if each.strategy not in BASELINES]
        paid = own[0].payout_yes
        prices = [each.price_yes for each in own if each.price_yes is not None]
        found.append(
            SettledMarket(
                last=own[-1],
                bots=len({each.bot for each in own}),
                worst=max(thought, key=lambda each: abs(each.probability - paid), default=None),
                has_page=any(each.subject_kind == "event" for each in own),
                dearest=max(prices, key=lambda price: abs(price - paid), default=None),
            )
        )
    return found
