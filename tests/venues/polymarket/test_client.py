"""The Polymarket venue: lists of events and single events."""

import json
from collections.abc import Callable, Sequence

import httpx
import pytest

from predibot.contracts import Venue
from predibot.domain.event import Event
from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.venues.polymarket.client import default_rates
from tests.venues.payloads import NOW, Clock, event_payload, market_payload, pages_of, venue_of


def ids(events: Sequence[Event]) -> list[str]:
    """Return the ids of events."""
    return [event.id for event in events]


def test_it_is_a_venue() -> None:
    with venue_of(pages_of([]))[0] as venue:
        as_protocol: Venue = venue
        assert (as_protocol.name, as_protocol.live) == ("polymarket", True)


def test_pages_are_read_to_the_last_one_in_words_the_venue_knows() -> None:
    venue, asked = venue_of(pages_of([event_payload(1), event_payload(2)], [event_payload(3)], []))
    page = venue.events(NOW)
    assert (ids(page.events), page.skipped, page.complete) == (["1", "2", "3"], (), True)
    words = {"closed": "false", "order": "volume1wk", "ascending": "false", "limit": "100"}
    cursors: list[dict[str, str]] = [{}, {"after_cursor": "1"}, {"after_cursor": "2"}]
    assert [dict(request.url.params) for request in asked.requests] == [words | cursor for cursor in cursors]
    assert {request.url.path for request in asked.requests} == {"/events/keyset"}


def test_reading_ends_early_when_enough_is_said_between_pages() -> None:
    venue, asked = venue_of(pages_of([event_payload(1)], [event_payload(2)], [event_payload(3)]))
    page = venue.events(NOW, enough=lambda events: len(events) >= 2)
    assert (ids(page.events), page.complete, len(asked.requests)) == (["1", "2"], False, 2)
    # A list that ends by itself is complete, whatever is enough.
    assert venue.events(NOW, enough=lambda events: len(events) >= 3).complete


@pytest.mark.parametrize("second", [(3, 2), (2, 3)])
def test_an_event_that_moved_to_the_next_page_is_taken_once(second: tuple[int, int]) -> None:
    venue, _ = venue_of(pages_of([event_payload(1), event_payload(2)], [event_payload(each) for each in second]))
    assert ids(venue.events(NOW).events) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (lambda number: {"events": [event_payload(1)], "next_cursor": str(number)}, "ignores after_cursor"),
        (lambda number: {"events": [event_payload(number)], "next_cursor": "same"}, "came twice"),
        (lambda number: {"events": [], "next_cursor": str(number)}, "1000 pages"),
    ],
    ids=["ignored cursor", "cursor twice", "no end"],
)
def test_a_list_without_end_stops_with_a_message(page: Callable[[int], object], said: str) -> None:
    venue, asked = venue_of(lambda request: page(len(asked.requests)))
    with pytest.raises(VenueChanged, match=said):
        venue.events(NOW)


@pytest.mark.parametrize(
    "volumes", [[10, 20], [10, None, 20], [30, "20", "25"], [0.3, 0.59, 0.1], [384_615, 407_407, 390_000]]
)
def test_a_list_in_another_order_is_read_to_its_end_and_noted(volumes: list[object]) -> None:
    events = [event_payload(number, volume1wk=volume) for number, volume in enumerate(volumes)]
    venue, _ = venue_of(pages_of(events[:1], events[1:]))
    page = venue.events(NOW)
    assert len(page.events) == len(volumes)
    said = f"1 of the {len(volumes)} events listed stand below one with less volume; they are ranked here"
    assert page.notes == (said,)


@pytest.mark.parametrize("volumes", [[20, None, 10], [20, "", "x", 10], [1000, 1004], [0, 0]])
def test_unknown_volumes_and_small_moves_are_no_broken_order(volumes: list[object]) -> None:
    events = [event_payload(number, volume1wk=volume) for number, volume in enumerate(volumes)]
    venue, _ = venue_of(pages_of(events))
    page = venue.events(NOW)
    assert len(page.events) + len(page.skipped) == len(volumes)
    assert page.notes == ()


@pytest.mark.parametrize(
    "page",
    [[], [event_payload(1)], {}, {"events": None}, {"markets": []}, "text", None, {"events": [], "next_cursor": 7}],
)
def test_a_page_of_another_shape_is_a_changed_venue(page: object) -> None:
    venue, _ = venue_of(lambda request: httpx.Response(200, text=json.dumps(page)))
    with pytest.raises(VenueChanged, match="update predibot"):
        venue.events(NOW)


def test_a_page_that_cannot_be_read_leaves_no_half_list() -> None:
    pages = pages_of([event_payload(1)], [event_payload(2)])
    venue, _ = venue_of(lambda request: httpx.Response(500) if "after_cursor" in request.url.params else pages(request))
    with pytest.raises(VenueUnavailable):
        venue.events(NOW)


def test_a_list_without_an_end_is_given_up_at_its_own_deadline() -> None:
    clock = Clock()

    def slow(request: httpx.Request) -> object:
        clock.seconds += 7.0
        number = len(asked.requests)
        return {"events": [event_payload(number, volume1wk=9)], "next_cursor": str(number)}

    venue, asked = venue_of(slow, clock=clock)
    with pytest.raises(VenueUnavailable, match=r"11 pages in 82 s and no end; .* raise list_deadline_seconds"):
        venue.events(NOW)
    assert len(asked.requests) == 12


def test_what_cannot_be_parsed_is_skipped_and_the_rest_is_kept() -> None:
    broken = market_payload(9, bestBid="?")
    venue, _ = venue_of(
        pages_of([event_payload(1), event_payload(2, title=7.5), event_payload(3, broken, volume1wk=1)])
    )
    page = venue.events(NOW)
    assert ids(page.events) == ["1", "2", "3"]
    assert [(skip.kind, skip.id, skip.event_id) for skip in page.skipped] == [("market", "9", "3")]


def test_raw_events_are_the_venues_own_words_page_by_page() -> None:
    first, second = event_payload(1, anything={"kept": [1, None]}), event_payload(2)
    venue, _ = venue_of(pages_of([first], [second], [event_payload(3)]))
    assert list(venue.raw_events(enough=lambda objects: len(objects) >= 2)) == [[first], [second]]


def test_one_event_is_read_whatever_its_state() -> None:
    venue, asked = venue_of(lambda request: event_payload(7, closed=True))
    event = venue.event("7", NOW)
    assert (event.id, event.closed, asked.requests[0].url.path) == ("7", True, "/events/7")


@pytest.mark.parametrize("event_id", ["nothing", "../markets", "", "7?x=1", "a" * 200])
def test_an_unknown_event_is_a_mistake_of_the_asker(event_id: str) -> None:
    venue, _ = venue_of(lambda request: httpx.Response(404))
    with pytest.raises(UsageError, match="knows no event"):
        venue.event(event_id, NOW)


@pytest.mark.parametrize("payload", [event_payload(8), [], event_payload(7, title="")])
def test_another_event_or_an_unreadable_one_is_a_changed_venue(payload: object) -> None:
    venue, _ = venue_of(lambda request: httpx.Response(200, json=payload))
    with pytest.raises(VenueChanged):
        venue.event("7", NOW)


def test_only_hosts_elsewhere_are_asked_slowly() -> None:
    rates = default_rates("http://127.0.0.1:8000/gamma", "https://clob.test")
    assert rates["https://clob.test/prices-history"] == 1_000
    assert not any("127.0.0.1" in prefix for prefix in rates)


def gamma_of_events(*ids: object, answer: Callable[[httpx.Request], object]) -> Callable[[httpx.Request], object]:
    """Return a Gamma that lists a market of each of these events, and answers by a function what else is asked."""
    markets = [market_payload(number) | {"events": [{"id": str(each)}]} for number, each in enumerate(ids)]
    return lambda request: {"markets": markets} if "markets" in request.url.path else answer(request)


def gamma_of_markets(
    count: int, per_event: int, clock: Clock, *, a_page: int = 100
) -> Callable[[httpx.Request], object]:
    """Return a Gamma of so many markets, the most traded first, whose every answer takes a second."""
    markets = [market_payload(number, volumeNum=10_000 - number) for number in range(count)]
    events = {
        str(first // per_event): event_payload(first // per_event, *markets[first : first + per_event])
        for first in range(0, count, per_event)
    }
    stubs = [market | {"events": [{"id": str(number // per_event)}]} for number, market in enumerate(markets)]

    def answer(request: httpx.Request) -> object:
        clock.sleep(1.0)
        params, what = request.url.params, request.url.path.strip("/").split("/")[0]
        if "id" in params:
            return {"events": [events[each] for each in params.get_list("id")[:-1]]}
        if request.url.path.startswith("/events/") and "keyset" not in request.url.path:
            return events[request.url.path.rpartition("/")[2]]
        listed = stubs if what == "markets" else list(events.values())
        begin = int(params.get("after_cursor", "0"))
        end = begin + a_page
        return {what: listed[begin:end], **({"next_cursor": str(end)} if end < len(listed) else {})}

    return answer


def test_a_list_of_65_pages_at_a_second_each_is_read_to_its_end() -> None:
    clock = Clock()
    venue, asked = venue_of(gamma_of_markets(650, 1, clock, a_page=10), clock=clock)
    page = venue.events(NOW)
    assert (len(page.events), page.complete, len(asked.requests)) == (650, True, 65)


def test_the_events_of_the_most_traded_markets_are_read_without_the_others() -> None:
    clock = Clock()
    venue, asked = venue_of(gamma_of_markets(1_500, 2, clock), clock=clock)
    page = venue.events_by_market(NOW, enough=lambda events: sum(len(each.markets) for each in events) >= 500)
    assert [event.id for event in page.events] == [str(number) for number in range(250)]
    assert page.complete is False
    # A page of markets, one of their 50 events, and the one that this leaves out, five times.
    assert len(asked.requests) == 15


def test_markets_that_name_no_event_are_counted_and_a_whole_page_of_them_is_a_changed_venue() -> None:
    def serving(*markets: object) -> Callable[[httpx.Request], object]:
        listed = {"markets": list(markets)}
        return lambda request: listed if "markets" in request.url.path else {"events": [event_payload(1)]}

    named = market_payload(1) | {"events": [{"id": "1"}]}
    venue, _ = venue_of(serving(named, market_payload(2), market_payload(3) | {"events": None}, None))
    page = venue.events_by_market(NOW)
    assert [event.id for event in page.events] == ["1"]
    assert page.notes == ("2 markets listed name no event, and are left out",)
    assert [(skip.kind, skip.reason) for skip in page.skipped] == [("market", "it has no readable id")]
    assert venue_of(serving(None))[0].events_by_market(NOW).events == ()
    with pytest.raises(VenueChanged, match="names its event"):
        venue_of(serving(market_payload(2), market_payload(3)))[0].events_by_market(NOW)


def test_an_event_that_is_gone_costs_itself_and_not_the_cohort() -> None:
    def answer(request: httpx.Request) -> object:
        if "keyset" in request.url.path:
            return {"events": [event_payload(1)]}
        return httpx.Response(410) if request.url.path.endswith("/2") else event_payload(9)

    page = venue_of(gamma_of_events(1, 2, 3, answer=answer))[0].events_by_market(NOW)
    assert ids(page.events) == ["1"]
    assert [skip.id for skip in page.skipped] == ["2", "3"]
    assert "answered 410" in page.skipped[0].reason and "asked for event 3, got" in page.skipped[1].reason


def test_a_few_events_that_are_not_answered_cost_themselves_and_half_of_them_the_list() -> None:
    def answering(*broken: str) -> Callable[[httpx.Request], object]:
        whole = {"events": [event_payload(number) for number in range(1, 7) if str(number) not in broken]}
        return gamma_of_events(
            *range(1, 7), answer=lambda request: whole if "keyset" in request.url.path else httpx.Response(503)
        )

    page = venue_of(answering("2", "5"))[0].events_by_market(NOW)
    assert (ids(page.events), [skip.id for skip in page.skipped]) == (["1", "3", "4", "6"], ["2", "5"])
    assert all("answered 503" in skip.reason for skip in page.skipped)
    with pytest.raises(VenueUnavailable):
        venue_of(answering("1", "2", "3", "4"))[0].events_by_market(NOW)


def test_an_event_that_stands_twice_on_a_page_is_one_and_two_of_one_id_are_none() -> None:
    twice, later = event_payload(1, volume1wk=5.0), event_payload(1, volume1wk=6.0)
    mixed = [event_payload(2), event_payload(2, market_payload(7))]
    page = venue_of(pages_of([twice, event_payload(3), later, *mixed]))[0].events(NOW)
    assert ids(page.events) == ["1", "3", "1"]
    assert [skip.id for skip in page.skipped] == ["2", "2"]


def test_what_is_done_between_pages_is_not_the_lists_time() -> None:
    clock = Clock()
    venue, _ = venue_of(pages_of([event_payload(1)], [event_payload(2)], [event_payload(3)]), clock=clock)

    def enough(events: Sequence[Event]) -> bool:
        clock.sleep(500.0)
        return False

    assert len(venue.events(NOW, enough=enough).events) == 3


def test_an_event_whose_id_is_refused_costs_itself_and_not_the_page() -> None:
    def answer(request: httpx.Request) -> object:
        asked = request.url.params.get_list("id") or [request.url.path.rpartition("/")[2]]
        return httpx.Response(422) if "a-word" in asked else {"events": [event_payload(int(each)) for each in asked]}

    page = venue_of(gamma_of_events(1, "a-word", 3, answer=answer))[0].events_by_market(NOW)
    assert (ids(page.events), [skip.id for skip in page.skipped]) == (["1", "3"], ["a-word"])


@pytest.mark.parametrize("word", ["NaN", "12,345", "", "Infinity", "-1", "a lot", [1], {"usd": 5}, True, None])
def test_a_volume_that_is_no_number_is_unknown_and_costs_nothing_else(word: object) -> None:
    market = market_payload(1, volume1wk=word, volume24hr=word, volumeNum=word, volume="50000")
    venue, _ = venue_of(pages_of([event_payload(1, market, volume1wk=word, volume24hr=word)]))
    (event,) = venue.events(NOW).events
    (read,) = event.markets
    assert (event.volume_1wk_usd, event.volume_24h_usd, read.volume_1wk_usd, read.volume_24h_usd) == (None,) * 4
    assert read.volume_usd == 50_000.0


@pytest.mark.parametrize(
    ("change", "tags", "markets", "skipped"),
    [
        ({"tags": [None, {"label": "A", "slug": "a"}, 7, {"label": [1]}]}, ["a"], 1, 0),
        ({"tags": [None]}, [], 1, 0),
        ({"markets": [None, market_payload(1)]}, ["politics"], 1, 1),
        ({"markets": [None]}, ["politics"], 0, 1),
        ({"markets": [market_payload(1), market_payload(2, outcomes=None)]}, ["politics"], 1, 1),
        ({"markets": [market_payload(1), market_payload(2, clobTokenIds=[None, None])]}, ["politics"], 1, 1),
        ({"archived": "maybe", "markets": [market_payload(1, feesEnabled="maybe")]}, ["politics"], 1, 0),
    ],
)
def test_an_entry_that_cannot_be_read_costs_itself_only(
    change: dict[str, object], tags: list[str], markets: int, skipped: int
) -> None:
    venue, _ = venue_of(pages_of([event_payload(1) | change, event_payload(2)]))
    page = venue.events(NOW)
    first, second = page.events
    assert ([tag.slug for tag in first.tags], len(first.markets), len(page.skipped)) == (tags, markets, skipped)
    assert len(second.markets) == 1
