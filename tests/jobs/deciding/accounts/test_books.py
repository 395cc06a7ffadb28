"""Fill models in a replay: at the mid, at quotes, and in the books that a past is asked for."""

import json
from datetime import timedelta

import httpx
import pytest

from predibot.errors import UsageError, VenueError, VenueUnavailable
from predibot.jobs.deciding.cohorts import known_markets
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.ledger.store import Store
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.venues.polymarket.parse import parse_event
from tests.jobs.deciding.accounts.walks import broken, past_of, replay_days, request_with, rows
from tests.jobs.tiny import clock
from tests.ledger.statements import altered
from tests.soaks import few
from tests.venues.payloads import NOW, event_payload, venue_of


@pytest.mark.parametrize(
    ("fills", "fill"), few([("quote", "same"), ("book", "same"), ("book", "next")], ("quote", "same"), ("book", "same"))
)
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
    altered(ledger, "UPDATE quotes SET depth_json = :worse", worse=json.dumps(worse))
    assert any("which its book did not offer" in each for each in broken(ledger)) == (fills == "book")


def test_a_past_that_stands_later_than_a_run_shows_its_accounts_nothing() -> None:
    with past_of().open_at(SANDBOX_OPENS_AT + timedelta(minutes=30)) as opened:
        board = VenueBoard(opened.venue, clock, past_books=True)
        event = opened.venue.events(SANDBOX_OPENS_AT).events[0]
        assert board.quote_events([event], opened.now) != ()
        with pytest.raises(VenueUnavailable, match="stands at 2026-01-05T12:30Z, later than the run; decide it with"):
            board.quote_events([event], SANDBOX_OPENS_AT)


def test_an_event_that_is_not_answered_has_no_quote_and_half_of_them_are_no_answer() -> None:
    def board_of(*broken: str) -> VenueBoard:
        def answer(request: httpx.Request) -> object:
            if request.method == "POST":
                return []
            asked = request.url.path.rpartition("/")[2]
            return httpx.Response(503 if asked == "2" else 404) if asked in broken else event_payload(int(asked))

        venue, _ = venue_of(answer)
        return VenueBoard(venue, clock)

    parsed = (parse_event(event_payload(number), quoted_at=NOW)[0] for number in range(1, 5))
    events = [event for event in parsed if event is not None]
    known = known_markets(events)
    for board in (board_of("2"), board_of("3"), board_of("2", "3")):
        quoted, listed = board.quote_events(events, NOW), board.find_unlisted(known, NOW)
        for found in (quoted, listed):
            assert [event.id for event in found] == ["1", "2", "3", "4"]
            assert [market.is_priced for event in found for market in event.markets].count(False) in (1, 2)
    with pytest.raises((UsageError, VenueError)):
        board_of("1", "2", "4").quote_events(events, NOW)
