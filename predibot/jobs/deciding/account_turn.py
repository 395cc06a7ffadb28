"""An account's turn: what a bot has when it decides, the events it is asked about, and what the account is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from predibot.contracts import Venue
from predibot.domain.account import Account, JournalRow
from predibot.domain.event import Event, prices_of
from predibot.domain.price import Instrument, Price
from predibot.errors import PluginError
from predibot.games.accounts import account_of
from predibot.jobs.deciding.quotes import QuoteBoard
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import last_prices, markets_held, stored_journal

_ROUNDING_USD = 1e-9


@dataclass(frozen=True, slots=True)
class AccountTurn:
    """What is known of an account when it is a bot's turn; under its claim nothing else writes to it."""

    id: int
    at: datetime
    journal: tuple[JournalRow, ...]
    account: Account
    events: tuple[Event, ...]
    """Those of the run, and behind them of others the markets that it holds something of."""
    marks: Mapping[Instrument, Price] | None
    """Of all that it holds: of now, else the last that is known; None where something was never priced."""

    def require(self, booked: Sequence[JournalRow], game: str) -> None:
        """Refuse a booking that no account can carry.

        Raises:
            PluginError: It names the game.
        """
        try:
            after = account_of((*self.journal, *booked))
        except ValueError as error:
            raise PluginError(f"game {game!r} books what the account cannot do: {error}") from error
        if after.cash_usd < min(self.account.cash_usd, 0.0) - _ROUNDING_USD:
            raise PluginError(f"game {game!r} leaves ${after.cash_usd:.6f} in the account; money is never borrowed")


def account_turn(
    account_id: int, events: Sequence[Event], *, store: Store, venue: Venue, board: QuoteBoard, now: datetime
) -> AccountTurn:
    """Return what is known of a claimed account.

    Args:
        account_id: Its row.
        events: Of the run.
        store: The ledger.
        venue: Asked for what is held and the run does not play.
        board: Has the quotes.
        now: The instant that the bot sees.

    Raises:
        VenueError: If the venue did not answer.
        UsageError: If it does not know an event any more that it had.
    """
    journal = store.run_read(lambda connection: stored_journal(connection, account_id))
    account = account_of(journal)
    held = store.run_read(lambda connection: markets_held(connection, account))
    last = store.run_read(lambda connection: last_prices(connection, account_id))
    played = {market.id for event in events for market in event.markets}
    more = {event_id: {market for market, of in held.items() if of == event_id} - played for event_id in held.values()}
    others = tuple(
        replace(event, markets=tuple(market for market in event.markets if market.id in markets))
        for event_id, markets in more.items()
        if markets
        for event in [venue.event(event_id, now)]
    )
    whole = (*events, *others)
    prices = {
        **last,
        **{
            instrument: price
            for event in map(board.still_quoted, whole)
            for instrument, price in prices_of(event, venue.name).items()
        },
    }
    is_priced = account.positions.keys() <= prices.keys()
    marks = {instrument: prices[instrument] for instrument in account.positions} if is_priced else None
    return AccountTurn(account_id, now, journal, account, whole, marks)
