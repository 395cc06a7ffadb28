"""Fresh quotes and order books of Polymarket."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from predibot.domain.event import Event
from predibot.domain.price import Depth, Level, Quote
from predibot.errors import VenueChanged
from predibot.venues.polymarket.parse import parse_event
from tests.venues.payloads import NOW, event_payload, market_payload, named_payload, settled_payload, venue_of


def book_payload(token_id: str, bids: object = None, asks: object = None) -> dict[str, object]:
    """Return a book as the CLOB writes it: everything a text, the best level last."""
    some_bids = [{"price": "0.01", "size": "100"}, {"price": "0.44", "size": "5"}]
    some_asks = [{"price": "0.99", "size": "100"}, {"price": "0.47", "size": "5"}]
    return {
        "asset_id": token_id,
        "timestamp": "1771011000000",
        "bids": some_bids if bids is None else bids,
        "asks": some_asks if asks is None else asks,
    }


def venue_answer(event: object, *books: dict[str, object]) -> Callable[[httpx.Request], object]:
    """Return both hosts: an event, and the books that exist of those asked for."""

    def answer(request: httpx.Request) -> object:
        if request.method == "GET":
            return event
        asked = [entry["token_id"] for entry in json.loads(request.content)]
        assert len(asked) <= 500
        return [book for book in books if book["asset_id"] in asked]

    return answer


def known(*markets: dict[str, object]) -> Event:
    """Return an event as it was chosen, of one market unless others are given."""
    event, _ = parse_event(event_payload(1, *markets), quoted_at=NOW)
    assert event is not None
    return event


def quotes_of(event: dict[str, object], *books: dict[str, object]) -> dict[str, Quote]:
    """Return the fresh quotes of an event."""
    chosen, _ = parse_event(event, quoted_at=NOW)
    assert chosen is not None
    return dict(venue_of(venue_answer(event, *books))[0].quotes(chosen))


def test_bid_and_ask_come_from_the_book_and_the_rest_from_the_listing() -> None:
    quotes = quotes_of(event_payload(1), book_payload("10"))
    depth = Depth((Level(0.44, 5.0), Level(0.01, 100.0)), (Level(0.47, 5.0), Level(0.99, 100.0)))
    assert quotes == {"1": Quote(at=NOW, bid=0.44, ask=0.47, displayed=0.41, last=0.43, depth=depth)}


def test_at_most_twenty_levels_a_side_are_kept() -> None:
    bids = [{"price": f"{cents / 100:.2f}", "size": "1"} for cents in range(1, 41)]
    kept = quotes_of(event_payload(1), book_payload("10", bids=bids))["1"].depth
    assert kept is not None
    assert [kept.bids[0].price, kept.bids[-1].price, len(kept.bids)] == [0.4, 0.21, 20]


def test_the_best_level_is_found_in_any_order_and_empty_levels_do_not_count() -> None:
    bids = [{"price": "0.44", "size": "5"}, {"price": "0.45", "size": "0"}, {"price": "0.02", "size": "9"}]
    quotes = quotes_of(event_payload(1), book_payload("10", bids=bids))
    assert quotes["1"].bid == 0.44


@pytest.mark.parametrize("nothing", [[], "[]", ""])
def test_a_side_nobody_stands_on_is_unknown(nothing: object) -> None:
    quotes = quotes_of(event_payload(1), book_payload("10", bids=nothing))
    assert (quotes["1"].bid, quotes["1"].ask) == (None, 0.47)


def test_a_token_without_a_book_keeps_no_old_bid_and_ask() -> None:
    assert quotes_of(event_payload(1)) == {"1": Quote(at=NOW, displayed=0.41, last=0.43)}


@pytest.mark.parametrize(
    ("chosen", "now", "quoted"),
    [
        (2, event_payload(1, market_payload(1), settled_payload(2)), {"1"}),
        (2, event_payload(1, market_payload(1), settled_payload(2), closed=True), set()),
        (2, event_payload(1, market_payload(1, acceptingOrders=True), market_payload(2, acceptingOrders=False)), {"1"}),
        (1, event_payload(1, market_payload(1), market_payload(2)), {"1"}),
    ],
    ids=["closed meanwhile", "all closed", "takes no orders", "came later"],
)
def test_what_can_be_traded_of_the_event_as_it_was_chosen_is_quoted(
    chosen: int, now: dict[str, object], quoted: set[str]
) -> None:
    event = known(*(market_payload(number) for number in range(1, chosen + 1)))
    venue, _ = venue_of(venue_answer(now, book_payload("10"), book_payload("20")))
    assert set(venue.quotes(event)) == quoted


def test_a_market_without_tokens_keeps_the_bid_and_ask_of_the_listing() -> None:
    quotes = quotes_of(event_payload(1, market_payload(1, clobTokenIds="")))
    assert (quotes["1"].bid, quotes["1"].ask) == (0.4, 0.42)


def test_at_most_500_books_are_asked_for_at_once() -> None:
    markets = [market_payload(number) for number in range(1, 602)]
    books = [book_payload(str(10 * number)) for number in range(1, 602)]
    assert len(quotes_of(event_payload(1, *markets), *books)) == 601


@pytest.mark.parametrize(
    "book",
    [
        book_payload("10", bids=[{"price": "1.5", "size": "1"}]),
        book_payload("10", asks=[{"size": "1"}]),
        book_payload("10", asks=7),
    ],
)
def test_a_book_that_cannot_be_read_is_a_changed_venue(book: dict[str, object]) -> None:
    with pytest.raises(VenueChanged, match="order book"):
        quotes_of(event_payload(1), book)


@pytest.mark.parametrize("broken", [None, 7, {}, book_payload("10", asks=7), book_payload("10", bids=[None])])
def test_a_book_that_cannot_be_read_costs_no_other_market_its_quote(broken: Any) -> None:
    markets = market_payload(1), market_payload(2)
    listed, books = event_payload(1, *markets), [broken, book_payload("20")]
    venue, _ = venue_of(lambda request: listed if request.method == "GET" else books)
    quotes = venue.quotes(known(*markets))
    assert (quotes["1"].bid, quotes["1"].displayed, quotes["2"].bid) == (None, 0.41, 0.44)


def test_a_market_whose_yes_is_the_second_outcome_here_is_quoted_from_its_side() -> None:
    event = known()
    (market,) = event.markets
    turned = replace(market, ref=replace(market.ref, token_ids=tuple(reversed(market.ref.token_ids))))
    venue, _ = venue_of(venue_answer(event_payload(1), book_payload("10")))
    (quote,) = venue.quotes(replace(event, markets=(turned,))).values()
    assert [quote.bid, quote.ask, quote.displayed, quote.last] == pytest.approx([0.53, 0.56, 0.59, 0.57])
    assert quote.depth is not None
    assert [level.price for level in (*quote.depth.bids, *quote.depth.asks)] == pytest.approx([0.53, 0.01, 0.56, 0.99])
    assert [level.shares for level in quote.depth.bids] == [5.0, 100.0]


def test_each_of_more_than_two_outcomes_is_quoted_from_its_own_book_by_its_instrument() -> None:
    event = event_payload(1, named_payload(), market_payload(2))
    books = [book_payload(token) for token in ("101", "103", "20")]
    quotes = quotes_of(event, *books)
    assert {name: (quote.bid, quote.ask, quote.displayed) for name, quote in quotes.items()} == {
        "101": (0.44, 0.47, 0.5),
        "102": (None, None, 0.0),
        "103": (0.44, 0.47, 0.25),
        "2": (0.44, 0.47, 0.41),
    }


def test_tokens_in_another_order_and_tokens_that_came_later_find_the_same_outcome() -> None:
    listed = named_payload()
    event = known(listed)
    (market,) = event.markets
    venue, _ = venue_of(venue_answer(event_payload(1, listed), book_payload("103")))
    turned = replace(market, ref=replace(market.ref, token_ids=("103", "102", "101")))
    fresh = turned.with_quotes(venue.quotes(replace(event, markets=(turned,))))
    assert [quote and (quote.bid, quote.displayed) for quote in fresh.outcome_quotes] == [
        (0.44, 0.25),
        (None, 0.0),
        (None, 0.5),
    ]
    young = replace(market, ref=replace(market.ref, token_ids=()))
    fresh = young.with_quotes(venue.quotes(replace(event, markets=(young,))))
    assert [quote and quote.displayed for quote in fresh.outcome_quotes] == [0.5, 0.0, 0.25]


@pytest.mark.parametrize("status", [400, 422])
def test_a_book_that_is_refused_costs_itself_and_all_of_them_the_quotes(status: int) -> None:
    markets = market_payload(1), market_payload(2)

    def quotes(*refused: str) -> dict[str, Quote]:
        def answer(request: httpx.Request) -> object:
            if request.method == "GET":
                return event_payload(1, *markets)
            asked = [entry["token_id"] for entry in json.loads(request.content)]
            return httpx.Response(status) if {*refused} & {*asked} else [book_payload(each) for each in asked]

        return dict(venue_of(answer)[0].quotes(known(*markets)))

    found = quotes("10")
    assert (found["1"].bid, found["2"].bid) == (None, 0.44)
    with pytest.raises(VenueChanged, match="refuses to be asked about token"):
        quotes("10", "20")
