"""An account's turn: it is brought to the slot, with the past that its bot sees; between slots it is tracked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from predibot.contracts import OpenVenue, Venue
from predibot.domain.account import Account, JournalRow, Mode
from predibot.domain.account_past import AccountPast
from predibot.domain.event import Event, prices_of
from predibot.errors import PluginError, VenueError
from predibot.games.accounts import Journal
from predibot.jobs.deciding.accounts.advance import (
    AccountBooks,
    MarketSnapshot,
    actions_of,
    bring_up_to_date,
    go_through_closes,
)
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import (
    AccountValue,
    accounts_at,
    add_valuations,
    free_account,
    is_past,
    last_valued_at,
    read_account,
    require_account,
)
from predibot.ledger.write.claims import Claim
from predibot.ledger.write.turns import KnownMarket, add_turn, markets_behind, past_allocations, pending_orders, turn_at

_ROUNDING_USD = 1e-9


@dataclass(frozen=True, slots=True)
class AccountTurn:
    """An account when its bot decides; under its claim nobody else writes to it."""

    id: int
    journal: Journal
    events: tuple[Event, ...]
    """The run's events, then other events with only the markets it holds or ordered."""
    past: AccountPast = field(default_factory=AccountPast)

    @property
    def account(self) -> Account:
        """Return the account that the journal adds up to."""
        return self.journal.account

    def require(self, booked: Sequence[JournalRow], game: str) -> None:
        """Refuse a booking that no account can carry; raise `PluginError`, which names the game."""
        try:
            after = self.journal.with_rows(booked).account
        except ValueError as error:
            raise PluginError(f"game {game!r} books what the account cannot do: {error}") from error
        if after.cash_usd < min(self.account.cash_usd, 0.0) - _ROUNDING_USD:
            raise PluginError(f"game {game!r} leaves ${after.cash_usd:.6f} in the account; money is never borrowed")


def take_turn(account_id: int, claim: Claim, job: DecideJob, worker: Worker) -> AccountTurn:
    """Bring a claimed account to the slot of a run, and return it as its bot sees it; ClaimLost if another has it now.

    First resolutions are settled, then the account is valued, then the last decision's orders are filled at the prices
    of now, or end with a reason. At a venue with closes all this happens at each close since. Repeating it changes
    nothing.
    """
    venue, run, now, fills = worker.venue, worker.run, worker.instant(), worker.fills
    events = worker.events_of(job)
    others, known, read = look_at(account_id, events, store=worker.store, venue=venue, board=worker.board, now=now)

    def advance(connection: Connection) -> None:
        require_account(connection, account_id, claim)
        if turn_at(connection, account_id, run.slot_at) is not None:
            return
        books = AccountBooks(connection, account_id, read)
        if not venue.has_sessions:
            bring_up_to_date(connection, account_id, known)
            books.fill_pending(pending_orders(connection, account_id), known, fills)
        else:
            go_through_closes(books, venue, fills, until=now)
            if last_valued_at(connection, account_id) is None:
                add_valuations(connection, account_id, [AccountValue(now, books.up_to_now())])
        add_turn(connection, account_id, run.slot_at, run.id, at=now)

    worker.store.run_write(advance)

    def read_turn(connection: Connection) -> AccountTurn:
        books = AccountBooks(connection, account_id, read)
        journal = books.up_to_now()
        account = journal.account
        behind = markets_behind(connection, account.positions.keys()).values() if others else ()
        held = {each.ref.id for each in behind}
        shown = [
            replace(event, markets=tuple(market for market in event.markets if market.id in held)) for event in others
        ]
        kept = [event for event in shown if event.markets]
        past = AccountPast(
            allocations=past_allocations(connection, account_id, before=run.slot_at, paid_in_usd=account.paid_in_usd),
            last_prices=books.earlier_prices(account.positions, known),
            pending=tuple(each.order for each in pending_orders(connection, account_id)),
            at=now,
            outside=frozenset(market.id for event in kept for market in event.markets),
            journal=journal.rows,
        )
        return AccountTurn(account_id, journal, (*events, *kept), past)

    turn = worker.store.run_read(read_turn)
    if worker.news is None:
        return turn
    found = worker.news.of([market for event in turn.events for market in event.markets])
    return replace(turn, past=replace(turn.past, news=found))


def look_at(
    account_id: int, events: Sequence[Event], *, store: Store, venue: Venue, board: VenueBoard, now: datetime
) -> tuple[tuple[Event, ...], MarketSnapshot, Journal]:
    """Return an account's further events, a snapshot of all its markets, and its journal.

    Further events are those outside `events` whose instruments it holds or has ordered.
    """

    def read_markets(connection: Connection) -> tuple[tuple[KnownMarket, ...], tuple[KnownMarket, ...], Journal]:
        journal = read_account(connection, account_id)
        ordered = [each.order.instrument for each in pending_orders(connection, account_id)]
        # Also settled instruments, whose resolution may be corrected.
        had = dict.fromkeys([*(row.instrument for row in journal.rows if row.instrument is not None), *ordered])
        behind = markets_behind(connection, had.keys())
        current = [market for each, market in behind.items() if each in journal.account.positions or each in ordered]
        return tuple(dict.fromkeys(behind.values())), tuple(dict.fromkeys(current)), journal

    ever, current, journal = store.run_read(read_markets)
    playing = {market.id for event in events for market in event.markets}
    others = board.find_unlisted([each for each in current if each.ref.id not in playing], now)
    whole = (*board.quote_events(events, now), *others)
    found = board.resolutions([each.ref for each in ever], now)
    known = MarketSnapshot(
        now,
        {instrument: price for event in whole for instrument, price in prices_of(event, venue.name).items()},
        frozenset(
            instrument
            for event in whole
            for market in event.markets
            if market.closed
            for instrument in market.instruments(venue.name)
        ),
        {each.row: found[each.ref.id] for each in ever if found[each.ref.id]},
        actions_of(venue, [each for market in current for each in market.instruments(venue.name)], now),
    )
    return others, known, journal


def track_accounts(
    *, store: Store, opened: OpenVenue, clock: Callable[[], datetime], replayed: str | None = None
) -> tuple[str, ...]:
    """Settle and value the accounts of live runs at a venue as of now, and return what could not be read.

    Accounts that a bot is using, or that are already past this instant, are left alone. At a past venue nothing is done
    unless the replay of the recipe `replayed` has come to this instant: an account's worth there does not depend on
    when somebody looks back. Nor is anything done at a venue with closes: each is booked when its bot decides next.
    """
    venue, now = opened.venue, opened.now
    if venue.has_sessions or (not venue.live and replayed is None):
        return ()
    mode: Mode = "live" if venue.live else "replay"
    board = VenueBoard(venue, clock)
    failures = []
    for account_id, bot in store.run_read(lambda connection: accounts_at(connection, venue.name, mode, replayed)):
        if store.run_read(partial(is_past, account_id=account_id, at=now)):
            continue
        try:
            _, known, _ = look_at(account_id, (), store=store, venue=venue, board=board, now=now)
        except VenueError as error:
            failures.append(f"the account of {bot} was not valued: {error}")
            continue
        store.run_write(partial(_value_if_free, account_id=account_id, known=known))
    return tuple(failures)


def _value_if_free(connection: Connection, *, account_id: int, known: MarketSnapshot) -> None:
    if free_account(connection, account_id, now=known.at) and not is_past(connection, account_id, known.at):
        bring_up_to_date(connection, account_id, known, again=False)
