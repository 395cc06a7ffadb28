"""The Manifold client against payloads that are sent by hand."""

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
import pytest

from predibot.domain.event import MarketRef
from predibot.domain.price import BINARY_OUTCOME, Instrument
from predibot.errors import UsageError, VenueChanged, VenueError, VenueUnavailable
from predibot.venues.manifold.client import BETS_A_PAGE
from predibot.venues.manifold.parse import market_ref
from tests.venues.manifold.payloads import NOW, answer, bet, binary, ms, multi, resolved, venue_of

DAY = timedelta(days=1)


def served(
    *markets: dict[str, object], pages: list[list[dict[str, object]]] | None = None
) -> Callable[[httpx.Request], object]:
    """Return a venue of these markets, listed on these pages; left out, on one."""
    listed = [list(markets)] if pages is None else pages
    starts = [sum(map(len, listed[:number])) for number in range(len(listed) + 1)]

    def answered(request: httpx.Request) -> object:
        path = request.url.path
        if path.endswith("/search-markets"):
            offset = int(request.url.params["offset"])
            return listed[starts.index(offset)] if offset < starts[-1] else []
        found = next((each for each in markets if path.endswith(f"/market/{each['id']}")), None)
        return httpx.Response(404) if found is None else found

    return answered


def points_of(bets: list[dict[str, object]], token: str = "abc-YES", start: datetime = NOW - DAY) -> list[object]:
    venue, _ = venue_of(lambda request: bets if "before" not in request.url.params else [])
    path = venue.price_path(Instrument("manifold", BINARY_OUTCOME, token), start=start, until=NOW)
    return [(point.at, point.price) for point in path.points]


def test_the_list_is_read_until_a_page_is_empty_and_each_market_is_asked_for() -> None:
    one, two, three = binary("one"), multi("two"), binary("three", volume24Hours=5)
    venue, asked = venue_of(served(one, two, three, pages=[[one, two], [three]]))
    page = venue.events(NOW)
    assert [event.id for event in page.events] == ["one", "two", "three"] and page.complete
    searches = [request.url.params for request in asked if request.url.path.endswith("/search-markets")]
    assert [each["offset"] for each in searches] == ["0", "2", "3"]
    assert searches[0]["filter"] == "open" and searches[0]["sort"] == "24-hour-vol"


def test_reading_ends_when_enough_was_read() -> None:
    one, two = binary("one"), binary("two")
    venue, asked = venue_of(served(one, two, pages=[[one], [two]]))
    page = venue.events(NOW, enough=lambda events: len(events) == 1)
    assert [event.id for event in page.events] == ["one"] and not page.complete
    assert len(asked) == 2


def test_what_is_not_played_is_counted_and_not_asked_for() -> None:
    poll = binary("poll", outcomeType="POLL")
    venue, asked = venue_of(served(binary(), poll, binary("cash", token="CASH")))
    page = venue.events(NOW)
    assert [event.id for event in page.events] == ["abc"] and page.skipped == ()
    assert len(page.notes) == 2 and page.notes[0].startswith("1 listed are not played: it is a market of kind 'POLL'")
    assert not any("poll" in request.url.path for request in asked)


def test_a_market_that_is_gone_or_ended_meanwhile_is_left_out() -> None:
    ended = binary("ended")
    venue, _ = venue_of(served(binary(), resolved(ended, "YES"), pages=[[binary(), ended, binary("gone")]]))
    page = venue.events(NOW)
    assert [event.id for event in page.events] == ["abc"]
    assert page.notes == ("1 listed are not played: it was taken down since",)


@pytest.mark.parametrize(
    "answer",
    [httpx.Response(500), httpx.Response(403), httpx.Response(410), httpx.Response(200, text="<p>"), binary("x")],
)
def test_one_market_that_cannot_be_read_costs_itself_and_no_recording_lacks_it(answer: object) -> None:
    whole = served(binary(), binary("other"))
    venue, _ = venue_of(lambda request: answer if request.url.path.endswith("/market/other") else whole(request))
    page = venue.events(NOW)
    assert ([event.id for event in page.events], [skip.id for skip in page.skipped]) == (["abc"], ["other"])
    settled = venue.resolutions([market_ref("abc"), market_ref("other")], as_of=NOW)
    assert [skip.id for skip in settled.skipped] == ["other"]
    with pytest.raises(VenueError):
        list(venue.raw_events())


def test_more_than_half_of_the_markets_that_cannot_be_read_are_no_list() -> None:
    whole = served(binary(), binary("b"), binary("c"))
    venue, _ = venue_of(lambda request: whole(request) if request.url.path[-1] not in "bc" else httpx.Response(500))
    with pytest.raises(VenueUnavailable):
        venue.events(NOW)


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (lambda request: {"markets": []}, "no list of markets"),
        (lambda request: [3], "no list of markets"),
        (lambda request: [binary("b")] if "search" in request.url.path else binary("b"), "ignores offset"),
        (lambda request: [binary("b")] if "search" in request.url.path else binary("c"), "asked for market b"),
    ],
)
def test_a_list_that_does_not_keep_its_contract_is_refused(
    answered: Callable[[httpx.Request], object], said: str
) -> None:
    with pytest.raises(VenueChanged, match=said):
        venue_of(answered)[0].events(NOW)


def test_another_order_a_volume_below_zero_and_a_row_that_is_none_cost_nothing() -> None:
    rows = [binary("a", volume24Hours=5), binary("b", volume24Hours=50), binary("c", volume24Hours=-3.5)]
    page = venue_of(served(*rows, pages=[[rows[0], None, *rows[1:]]]))[0].events(NOW)
    assert {event.id: event.volume_24h_usd for event in page.events} == {"a": 5.0, "b": 50.0, "c": None}
    assert page.notes == (
        "1 listed are not played: a row is no object",
        "1 of the 3 events listed stand below one with less volume; they are ranked here",
    )


def test_the_list_is_not_asked_for_beyond_what_the_venue_serves() -> None:
    def answered(request: httpx.Request) -> object:
        if "search" not in request.url.path:
            return binary(request.url.path.rpartition("/")[2])
        offset = int(request.url.params["offset"])
        return [binary(f"m{offset + place}") for place in range(100)]

    venue, asked = venue_of(answered)
    page = venue.events(NOW)
    assert len(page.events) == 1_100 and not page.complete
    assert max(int(each.url.params["offset"]) for each in asked if "search" in each.url.path) == 1_000


def test_what_is_recorded_is_what_the_venue_wrote() -> None:
    one = binary(anything={"kept": [1, None]})
    venue, _ = venue_of(served(one, binary("poll", outcomeType="POLL")))
    assert [page for page in venue.raw_events() if page] == [[one]]


@pytest.mark.parametrize(
    ("event_id", "said"),
    [*((each, "knows no event") for each in ("nothing", "../bets", "", "a-b", "x" * 200)), ("poll", "kind 'POLL'")],
)
def test_an_unknown_event_is_a_mistake_of_the_asker(event_id: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        venue_of(served(binary(), binary("poll", outcomeType="POLL")))[0].event(event_id, NOW)


def test_a_path_is_made_of_what_bets_moved() -> None:
    hours = [NOW - timedelta(hours=hour) for hour in range(6)]
    fill = {"timestamp": ms(hours[1]), "amount": 5, "shares": 9}
    assert points_of(
        [
            bet("f", hours[2], 0.9, isRedemption=True),
            bet("e", hours[2], 0.6, fills=[{"timestamp": ms(hours[2]), "amount": 1, "shares": 2}], isFilled=True),
            bet("d", hours[3], 0.8, isFilled=False, isCancelled=True, fills=[], amount=0, shares=0),
            bet("c", hours[4], 0.7, limitProb=0.7, fills=[fill], isFilled=True, isCancelled=False),
            bet("b", hours[4], 0.99, limitProb=0.99, isFilled=False, fills=[]),
            bet("a", hours[5], 0.4, outcome="NO"),
        ]
    ) == [(hours[5], 0.4), (hours[4], 0.7), (hours[2], 0.6)]


def test_a_later_fill_of_an_order_changes_nothing_of_the_past() -> None:
    placed, later = NOW - DAY / 2, NOW - DAY / 4
    fills = [{"timestamp": ms(at), "amount": 5, "shares": 9} for at in (placed, later)]
    order = bet("o", placed, 0.6, limitProb=0.6, isFilled=True, isCancelled=False)
    taker = bet("t", later, 0.55)
    before = points_of([order | {"fills": fills[:1]}])
    assert points_of([taker, order | {"fills": fills}]) == [*before, (later, 0.55)]


def test_no_has_what_yes_lacks_the_start_is_left_out_and_of_one_instant_the_last_bet_counts() -> None:
    bets = [bet("d", NOW, 0.3), bet("c", NOW - DAY / 2, 0.2), bet("b", NOW - DAY / 2, 0.6), bet("a", NOW - DAY, 0.1)]
    assert points_of(bets, "abc-NO") == [(NOW - DAY / 2, 0.8), (NOW, 0.7)]


def test_answers_of_one_market_share_its_bets() -> None:
    bets = [bet(name, NOW - DAY / 2, 0.1 * place, answerId=name) for place, name in enumerate("ab", start=1)]
    venue, asked = venue_of(lambda request: bets if "before" not in request.url.params else [])
    found = {
        token: [point["p"] for point in venue.raw_history(token, NOW - DAY, NOW)]
        for token in ("abc-a-YES", "abc-b-NO", "abc-c-YES")
    }
    assert found == {"abc-a-YES": [0.1], "abc-b-NO": [0.8], "abc-c-YES": []}
    # The second page was empty: nothing is older.
    assert len(asked) == 2


def test_a_bet_on_one_of_several_answers_moves_the_others_and_a_redemption_none() -> None:
    at, fill = NOW - DAY / 2, {"timestamp": ms(NOW - DAY / 2), "amount": 3, "shares": 4}
    by_another = {"isRedemption": True, "amount": 0, "shares": 0, "orderAmount": 0, "fills": [fill], "isFilled": True}
    bets = [
        bet("pair", at + DAY / 4, 0.6, answerId="b", isRedemption=True, shares=-5, probBefore=0.6),
        bet("paid", at + DAY / 4, 0.9, answerId="b", isRedemption=True, shares=-5, probBefore=0.6),
        bet("still", at + DAY / 8, 0.2, answerId="b", probBefore=0.2, **by_another),
        bet("moved", at, 0.2, answerId="b", probBefore=0.4, **by_another),
        bet("made", at, 0.8, answerId="a", probBefore=0.6),
    ]
    venue, asked = venue_of(lambda request: bets if "before" not in request.url.params else [])
    found = {name: [point["p"] for point in venue.raw_history(f"abc-{name}-YES", NOW - DAY, NOW)] for name in "ab"}
    assert found == {"a": [0.8], "b": [0.2]}
    assert {request.url.params["includeZeroShareRedemptions"] for request in asked} == {"true"}


def test_bets_are_read_back_to_the_start_and_no_further() -> None:
    first = [bet(f"n{number}", NOW - number * timedelta(minutes=1), 0.5) for number in range(BETS_A_PAGE)]
    last = [bet("old", NOW - 2 * DAY, 0.1)]
    venue, asked = venue_of(lambda request: last if "before" in request.url.params else first)
    assert len(venue.raw_history("abc-YES", NOW - timedelta(hours=1), NOW)) == 60
    assert len(asked) == 1
    assert len(venue.raw_history("abc-YES", NOW - DAY, NOW)) == BETS_A_PAGE
    assert [each.url.params.get("before") for each in asked[1:]] == [None, f"n{BETS_A_PAGE - 1}"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (bet("x", NOW, 0.5, contractId="other"), "asked for bets of abc"),
        (bet("x", NOW, 7.0), "cannot be read"),
        (bet("x", NOW, 0.5, createdTime=None), "cannot be read|no createdTime"),
        (bet("x", NOW, 0.5, fills=3), "cannot be read"),
        (bet("x", NOW, 0.5, answerId=[1]), "cannot be read"),
    ],
)
def test_a_bet_that_cannot_be_read_leaves_no_path_without_it(row: dict[str, object], said: str) -> None:
    with pytest.raises(VenueChanged, match=said):
        points_of([row])


def test_a_list_of_bets_that_begins_again_is_refused() -> None:
    venue, _ = venue_of(lambda request: [bet("same", NOW, 0.5)])
    with pytest.raises(VenueChanged, match="ignores before"):
        venue.raw_history("abc-YES", NOW - DAY, NOW)


@pytest.mark.parametrize("token", ["abc", "abc-MAYBE", "a b-YES", "123", "-YES", "a-b-c-YES"])
def test_only_tokens_of_this_venue_have_prices(token: str) -> None:
    venue, asked = venue_of(lambda request: [])
    assert venue.price_path(Instrument("manifold", BINARY_OUTCOME, token), start=NOW - DAY, until=NOW).points == ()
    with pytest.raises(UsageError, match="is not a token"):
        venue.raw_history(token, NOW - DAY, NOW)
    assert asked == []


def test_fresh_quotes_are_of_what_is_open_and_asked_for() -> None:
    listed = multi("many", answer("a"), answer("b"), answer("c", resolution="NO"), shouldAnswersSumToOne=False)
    venue, _ = venue_of(served(listed))
    event = venue.event("many", NOW)
    fresh = multi("many", answer("a", probability=0.5), answer("b", probability=None), listed["answers"][2])  # type: ignore[index]
    again, _ = venue_of(served(fresh | {"shouldAnswersSumToOne": False}))
    assert {name: quote.displayed for name, quote in again.quotes(event).items()} == {"many-a": 0.5}


def test_resolutions_are_asked_once_a_contract_and_seen_no_sooner_than_they_were_made() -> None:
    venue, asked = venue_of(served(resolved(multi(), "a"), binary()))
    refs = [market_ref("many", "a"), market_ref("many", "b"), market_ref("abc"), market_ref("gone"), MarketRef("x y")]
    page = venue.resolutions(refs, as_of=NOW)
    assert {name: each[0].payout_yes for name, each in page.found.items()} == {"many-a": 1.0, "many-b": 0.0}
    assert {(skip.id, skip.kind) for skip in page.skipped} == {("gone", "resolution"), ("x y", "resolution")}
    assert len(asked) == 3
    assert venue.resolutions(refs[:2], as_of=NOW - timedelta(hours=2)).found == {}


def test_what_cannot_be_read_of_a_market_is_told_of_each_that_was_asked_for() -> None:
    venue, _ = venue_of(served(resolved(multi(), "a", resolutions=[1])))
    page = venue.resolutions([market_ref("many", "a"), market_ref("many", "b")], as_of=NOW)
    assert page.found == {} and [skip.id for skip in page.skipped] == ["many-a", "many-b"]
