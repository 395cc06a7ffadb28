"""News for a run: looked for once a market, kept with the run, and the same for all its bots."""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import Connection

from predibot.domain.account_past import NewsItem
from predibot.domain.event import Market
from predibot.errors import BudgetSpent, ModelUnavailable
from predibot.ledger.store import Store
from predibot.ledger.write.news import add_news, stored_news
from predibot.ledger.write.runs import StoredRun
from predibot.research.search.provider import SearchFailed

MAX_ITEMS = 3
"""A market is shown."""
Window = tuple[timedelta, timedelta]
"""How long before the run's instant its news begin and end."""


class NewsSource(Protocol):
    """What finds news of a window."""

    def news(self, query: str, *, after: datetime, before: datetime, count: int) -> tuple[NewsItem, ...]:
        """Return the first dated news; raises SearchFailed or BudgetSpent."""
        ...


class NewsBoard:
    """The news of a run's markets, shared by its bots and its processes."""

    def __init__(self, store: Store, run: StoredRun, source: NewsSource, window: Window) -> None:
        """Look for nothing yet."""
        self._store, self._run, self._source, self._window = store, run, source, window
        self._lock = threading.Lock()
        self._found: dict[str, tuple[NewsItem, ...] | None] = {}

    def of(self, markets: Sequence[Market]) -> Mapping[str, tuple[NewsItem, ...] | None]:
        """Return the news by market id, None where they are unavailable; looked for where nobody did before."""
        with self._lock:
            if any(market.id not in self._found for market in markets):
                self._found.update(self._store.run_read(lambda connection: stored_news(connection, self._run.id)))
            missing = [market for market in markets if market.id not in self._found]
            for market in missing:
                self._look_for(market)
            if missing:
                self._found.update(self._store.run_read(lambda connection: stored_news(connection, self._run.id)))
            return {market.id: self._found[market.id] for market in markets}

    def _look_for(self, market: Market) -> None:
        first, last = (self._run.as_of - before for before in self._window)
        asked = f"{market.id} stock news" if market.is_share else market.question
        items: tuple[NewsItem, ...] = ()
        failure = None
        try:
            items = self._source.news(asked, after=first, before=last, count=MAX_ITEMS)
        except (SearchFailed, BudgetSpent, ModelUnavailable) as error:
            failure = str(error)

        def keep(connection: Connection) -> None:
            add_news(connection, self._run.id, market.id, self._run.venue_name, asked, items, failure=failure)

        self._store.run_write(keep)
