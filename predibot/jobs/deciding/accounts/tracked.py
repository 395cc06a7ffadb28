"""Accounts between their slots: settled and valued whenever a live venue is tracked."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from predibot.contracts import OpenVenue
from predibot.domain.account import Mode
from predibot.errors import VenueError
from predibot.jobs.deciding.accounts.advance import MarketSnapshot, bring_up_to_date
from predibot.jobs.deciding.accounts.turn import look_at
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import accounts_at, free_account, is_past


def track_accounts(
    *, store: Store, opened: OpenVenue, clock: Callable[[], datetime], replayed: str | None = None
) -> tuple[str, ...]:
    """Settle and value the accounts of live runs at a venue as of now, and return what could not be read.

    Accounts that a bot is using, or that are already past this instant, are left alone. At a past venue nothing is done
    unless a replay has come to this instant: an account's worth there does not depend on when somebody looks back.

    Args:
        replayed: The recipe whose replay has come to this instant.
    """
    venue, now = opened.venue, opened.now
    if not venue.live and replayed is None:
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
