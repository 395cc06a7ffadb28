"""Fill models in a replay: at the mid, at quotes, and in the books that a past is asked for."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from predibot.errors import VenueUnavailable
from predibot.jobs.deciding.accounts.market_board import MarketBoard
from predibot.jobs.deciding.quotes import QuoteBoard
from predibot.ledger.store import Store
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from tests.jobs.deciding.accounts.walks import broken, past_of, replay_days, request_with, rows
from tests.jobs.tiny import clock


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Store]:
    """Open an empty ledger in a file."""
    with Store.open(f"sqlite:///{tmp_path}/books.db") as opened:
        yield opened


@pytest.mark.parametrize(("fills", "fill"), [("quote", "same"), ("book", "same"), ("book", "next")])
def test_a_replay_fills_by_quotes_and_in_books_and_stores_what_it_saw(ledger: Store, fills: str, fill: str) -> None:
    request = request_with(f'fills = "{fills}"\nfill = "{fill}"', "equal_weights")
    replay_days(ledger, request, 3)
    filled = rows(ledger, "fills")
    assert filled and {row["model"] for row in filled} == {fills}
    depths = {row["depth_json"] is not None for row in rows(ledger, "quotes")}
    assert depths == ({True} if fills == "book" else {False})
    assert broken(ledger) == []
    if fill == "next":
        return
    worse = {"bids": [[0.01, 1.0]], "asks": [[0.99, 1.0]]}
    with ledger.write() as connection:
        connection.execute(text("UPDATE quotes SET depth_json = :worse"), {"worse": json.dumps(worse)})
    assert any("which its book did not offer" in each for each in broken(ledger)) == (fills == "book")


def test_a_past_that_stands_later_than_a_run_shows_its_accounts_nothing() -> None:
    with past_of().open_at(SANDBOX_OPENS_AT + timedelta(minutes=30)) as opened:
        board = MarketBoard(opened.venue, QuoteBoard(opened.venue, clock, past_books=True), clock)
        event = opened.venue.events(SANDBOX_OPENS_AT).events[0]
        assert board.quoted([event], opened.now) != ()
        with pytest.raises(VenueUnavailable, match="stands at 2026-01-05T12:30Z, later than the run; decide it with"):
            board.quoted([event], SANDBOX_OPENS_AT)
