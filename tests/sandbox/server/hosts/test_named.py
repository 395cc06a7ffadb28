"""The sandbox with markets of more than two outcomes: what a venue's client reads of them, from listing to payout."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.resolution import Resolution
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.recipe.text import packaged_crypto_words
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, instant_of, minute_of
from predibot.sandbox.world.world import CORRECTED_AFTER_MINUTES, Closing, World
from predibot.selection import SelectionRules, select
from predibot.venues.polymarket.client import Polymarket
from tests.sandbox.venues import venue_of

HOUR = timedelta(hours=1)
PLAIN, NAMED = World.from_seed(1, events=150), World.from_seed(1, events=150, named=True)
OPENS = minute_of(SANDBOX_OPENS_AT)


@pytest.fixture(scope="module")
def named_server() -> Iterator[SandboxServer]:
    with SandboxServer(NAMED, now=SANDBOX_OPENS_AT) as server:
        yield server


def client(server: SandboxServer, now: datetime) -> Polymarket:
    """Return the venue at an instant, to which the server's clock is set."""
    server.now = now
    return venue_of(server, now)


def listed(server: SandboxServer, now: datetime = SANDBOX_OPENS_AT) -> tuple[Event, ...]:
    with client(server, now) as venue:
        page = venue.events(now)
    assert not page.skipped
    return page.events


def named_markets(events: tuple[Event, ...]) -> dict[str, Market]:
    return {event.id: market for event in events for market in event.markets if market.is_named}


def test_only_events_of_mutually_exclusive_markets_are_others_than_without_it(named_server: SandboxServer) -> None:
    with SandboxServer(PLAIN, now=SANDBOX_OPENS_AT) as plain_server:
        plain = {event.id: event for event in listed(plain_server)}
    events = {event.id: event for event in listed(named_server)}
    found = named_markets(tuple(events.values()))
    assert len(found) >= 10 and found.keys() <= events.keys()
    for event_id, event in plain.items():
        if event_id not in found:
            assert events.get(event_id, event).markets == event.markets
            continue
        exclusive, market = event.markets, found[event_id]
        assert len(exclusive) == len(market.outcomes) > 2 and all(each.exclusive_group for each in exclusive)
        assert market.exclusive_group == "" and market.quote is None and events[event_id].markets == (market,)
        assert market.ref.token_ids in ((), tuple(each.ref.token_ids[0] for each in exclusive if each.ref.token_ids))
        assert market.volume_usd == pytest.approx(sum(each.volume_usd or 0.0 for each in exclusive), abs=1e-3)
    assert not any(market.exclusive_group for event in events.values() for market in event.markets)


def test_each_outcome_has_a_book_and_a_history_of_its_own(named_server: SandboxServer) -> None:
    events = listed(named_server)
    event_id, market = next((k, m) for k, m in named_markets(events).items() if m.ref.token_ids and not m.closed)
    with client(named_server, SANDBOX_OPENS_AT) as venue:
        quotes = venue.quotes(next(event for event in events if event.id == event_id))
        fresh = market.with_quotes(quotes)
        paths = [
            venue.price_path(each, start=SANDBOX_OPENS_AT - 24 * HOUR, until=SANDBOX_OPENS_AT)
            for each in market.instruments("sandbox")
        ]
    assert len(fresh.quotes) == len(market.outcomes)
    for quote, path in zip(fresh.quotes, paths, strict=True):
        assert quote.price is not None and path.points
        # Quotes are hourly, the last point of the history is of the hour before now.
        assert abs(path.points[-1].price - quote.price.yes) < 0.2


def closing_of(number: int) -> Closing:
    return NAMED._closings(number)[0]


def test_they_are_paid_together_voided_in_equal_parts_and_where_disputed_corrected(
    named_server: SandboxServer,
) -> None:
    kinds: dict[str, int] = {}
    for number in NAMED.event_numbers(OPENS + 150 * 24 * 60):
        plan = NAMED.plan(number)
        if not NAMED.is_named(plan):
            continue
        closing = closing_of(number)
        kinds.setdefault("void" if closing.is_void else "disputed" if closing.is_disputed else "plain", number)
    assert kinds.keys() == {"plain", "void", "disputed"}
    for kind, number in kinds.items():
        closing, names = closing_of(number), NAMED.names
        count = len(NAMED.plan(number).markets)
        tokens = tuple(names.token_id(number, index, 0) for index in range(count))
        ref = MarketRef(names.market_id(number, 0), names.condition_id(number, 0), tokens)

        def paid(minute: int, ref: MarketRef = ref) -> tuple[Resolution, ...]:
            with client(named_server, instant_of(minute)) as venue:
                return venue.resolutions([ref], as_of=instant_of(minute)).found.get(ref.id, ())

        assert paid(closing.settled_minute - 1) == ()
        (first,) = paid(closing.settled_minute)
        (last,) = paid(closing.settled_minute + CORRECTED_AFTER_MINUTES)
        assert len(first.payouts) == count and sum(last.payouts) == pytest.approx(1.0)
        right = tuple(NAMED.outcome(number, index, closing.settled_minute) for index in range(count))
        assert last.payouts == ((1.0 / count,) * count if kind == "void" else right)
        assert (first.payouts == last.payouts) is (kind != "disputed")


def test_a_cohort_finds_500_open_markets_of_which_some_have_more_than_two_outcomes() -> None:
    world = World.from_seed(3, markets=600, named=True)
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server:
        events = listed(server)
    rules = WeeklyCohort().select(SelectionRules(crypto=packaged_crypto_words()))
    chosen = [market for event in select(events, rules, SANDBOX_OPENS_AT).selected for market in event.markets]
    assert len(chosen) == 500 and sum(market.is_named for market in chosen) >= 25
    assert all(market.volume_usd is not None and not market.closed for market in chosen)
