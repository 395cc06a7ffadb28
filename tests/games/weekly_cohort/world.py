"""A small world of weekly cohorts: markets at prices, an account with a journal, and what a bot is shown of both."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from predibot.domain.account import JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import Instrument, Price, Quote
from predibot.domain.resolution import Resolution
from predibot.games.accounts import Journal, account_of, settle
from predibot.games.fills import FillModel
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.games.weekly_cohort.view import CohortView

SUNDAY = datetime(2026, 3, 1, tzinfo=UTC)
NOW = SUNDAY + timedelta(minutes=5)
COHORT = Subject("cohort", "2026-03-01")
V1, V2 = WeeklyCohort("v1"), WeeklyCohort("v2")


def a_market(market_id: str, price: float | None = 0.5, *, closed: bool = False, **more: object) -> Market:
    """Return a market of YES and NO at a price, without one where it is None."""
    quote = None if price is None else Quote(NOW, displayed=price)
    said = {"outcomes": ("Yes", "No"), "quote": quote, "question": f"Will {market_id} happen?", **more}
    return Market(MarketRef(market_id), closed=closed, **said)  # type: ignore[arg-type]


def named(market_id: str, prices: dict[str, float | None], *, closed: bool = False) -> Market:
    """Return a market of named outcomes, each at a price of its own."""
    quotes = tuple(None if price is None else Quote(NOW, displayed=price) for price in prices.values())
    tokens = tuple(f"{market_id}-{number}" for number in range(len(prices)))
    ref = MarketRef(market_id, token_ids=tokens)
    return Market(ref, f"Who wins {market_id}?", tuple(prices), closed=closed, outcome_quotes=quotes)


class Player:
    """One bot in one cohort: what is written into its journal is what the game says."""

    def __init__(self, game: WeeklyCohort = V2, stake_usd: float = 10_000.0) -> None:
        """Begin with the stake."""
        self.game = game
        self.journal = [JournalRow("deposit", NOW, stake_usd)]

    @property
    def cash_usd(self) -> float:
        return account_of(self.journal).cash_usd

    def view(self, *markets: Market, last: dict[Instrument, Price] | None = None) -> CohortView:
        past = AccountPast(journal=tuple(self.journal), at=NOW, last_prices=last or {})
        events = [Event(f"e-{market.id}", market.question, (market,)) for market in markets]
        return self.game.view(COHORT, events, venue="toy", account=account_of(self.journal), past=past)

    def book(
        self,
        answer: object,
        *markets: Market,
        later: Sequence[Market] | None = None,
        fills: FillModel | None = None,
    ) -> Booking:
        """Answer, book at the prices of `later` where they are given, and write the journal."""
        view = self.view(*markets)
        decision = answer if isinstance(answer, Decision) else self.game.form(view).parse(answer)
        quotes = view.prices if later is None else Player().view(*later).prices
        booking = self.game.book(decision, view, view.account, quotes, fills or FillModel("mid"))
        self.journal += booking.journal
        return booking

    def bet(self, price: float, amount_usd: float, side: str = "YES", market_id: str = "m") -> Booking:
        return self.book(bets((market_id, side, amount_usd)), a_market(market_id, price), *self._others(market_id))

    def sell(self, price: float, percentage: float, position_id: str = "p1", market_id: str = "m") -> Booking:
        return self.book(sells((position_id, percentage)), a_market(market_id, price), *self._others(market_id))

    def _others(self, market_id: str) -> list[Market]:
        """Return the other markets of which something is held."""
        ids = [instrument.id.partition(":")[0] for instrument in account_of(self.journal).positions]
        return [a_market(other) for other in dict.fromkeys(ids) if other != market_id]

    def resolve(self, payout: float | None, *, market_id: str = "m", side: str = "YES", revision: int = 1) -> None:
        """Write what follows from a revision of how one side is paid."""
        instrument = MarketRef(market_id).instrument("toy", "YES" if side == "YES" else "NO")
        at = NOW + timedelta(days=revision)
        found = [(revision, Resolution(payout, at, "venue", at))]
        self.journal += settle(Journal().with_rows(self.journal), {instrument: found}, as_of=at)


def bets(*legs: tuple[str, str, float]) -> dict[str, object]:
    """Return an answer that bets."""
    said = [{"market_id": market_id, "side": side, "amount": amount} for market_id, side, amount in legs]
    return {"action": "BET", "bets": said, "reasoning": "why"}


def sells(*legs: tuple[str, float]) -> dict[str, object]:
    """Return an answer that sells."""
    said = [{"position_id": position_id, "percentage": percentage} for position_id, percentage in legs]
    return {"action": "SELL", "sells": said, "reasoning": "why"}
