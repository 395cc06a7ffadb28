"""Choosing on a venue that is in trouble: a day is not lost to a list that cannot be read for a minute."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from predibot.config import Settings
from predibot.contracts import OpenVenue
from predibot.errors import VenueChanged, VenueUnavailable
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.select_events import (
    MAX_UNRANKED_SHARE,
    MIN_TELLING_EVENTS,
    MOST_TRADED_EVENTS,
    choose,
    doubts_in,
)
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.ledger.store import Store
from predibot.ledger.write.runs import freeze_run, read_runs, void_run
from predibot.recipe.recipe import Recipe
from predibot.reports.views.decide import decide_view
from tests.jobs.tiny import clock, decide_on, nobody, recipe_of, request_of, statuses
from tests.soaks import few
from tests.venues.payloads import NOW, event_payload, market_payload, pages_of, venue_of

Payload = dict[str, object]
Answer = Callable[[httpx.Request], object]
LISTS = ("outcomes", "outcomePrices", "clobTokenIds")
"""Of a market, what corresponds by index."""
PRICES = ("outcomePrices", "bestBid", "bestAsk", "lastTradePrice")


def events(count: int, *, first: int = 1, **changes: object) -> list[Payload]:
    """Return events with one market each, whose fields are changed."""
    markets = [market_payload(number, **changes) for number in range(first, first + count)]
    return [event_payload(number, market) for number, market in enumerate(markets, start=first)]


def without(payloads: list[Payload], *fields: str) -> list[Payload]:
    """Return objects, and the markets in them, without fields."""
    return [
        {
            name: without(value, *fields) if isinstance(value, list) and name == "markets" else value
            for name, value in payload.items()
            if name not in fields
        }
        for payload in payloads
    ]


HEALTHY = events(4)
"""What can be played."""


def in_pairs(*lacking: str, **changes: object) -> list[Payload]:
    """Return four events with two markets each, of which the second lacks fields or is changed."""
    return [
        event_payload(n, market_payload(n), *without([market_payload(100 + n, **changes)], *lacking))
        for n in range(1, 5)
    ]


def serving(listed: list[Payload]) -> Answer:
    """Return a venue that lists these events, says of each what it lists, and has no order books."""
    by_path = {f"/events/{payload['id']}": payload for payload in listed if "id" in payload}
    pages = pages_of(listed)

    def answer(request: httpx.Request) -> object:
        if request.url.path == "/books":
            return []
        return pages(request) if request.url.path == "/events/keyset" else by_path[request.url.path]

    return answer


def decide_live(
    store: Store,
    answer: Answer,
    *,
    event_id: str | None = None,
    recipe: Recipe | None = None,
    clock: Callable[[], datetime] = lambda: NOW,
) -> DecideReport:
    """Decide on a live venue whose network is a function."""
    venue, _ = venue_of(answer)
    with OpenVenue("polymarket", venue, NOW, ExitStack()) as opened:
        request = request_of(recipe or recipe_of("market_price"), event_id=event_id)
        return decide(request, opened, Resources(store, Settings(), clock, nobody))


def runs_in(store: Store) -> int:
    with store.read() as connection:
        return len(read_runs(connection))


def refused(store: Store, answer: Answer, *said: str, **changes: Any) -> None:
    """Decide where that is refused with these words, and no run is stored."""
    with pytest.raises(VenueChanged) as caught:
        decide_live(store, answer, **changes)
    for each in (*said, "No run is made"):
        assert each in str(caught.value)
    assert runs_in(store) == 0


def serving_text(listed: list[Payload]) -> Answer:
    """Return a venue that lists these events and knows nothing else, also where they are no JSON."""
    return lambda _request: httpx.Response(200, text=json.dumps({"events": listed}))


CLOSED: Payload = {"closed": True}
UNREADABLE: list[tuple[list[Payload], str]] = [
    (events(4, bestBid="x", bestAsk="y"), "4 because market bestBid: 'x' is not a number"),
    (events(4, bestBid=float("nan")), "4 because market bestBid: 'NaN' is not a finite number"),
    (events(4, outcomePrices='["NaN", "NaN"]'), "4 because market outcomePrices"),
    (events(4, lastTradePrice=7), "4 because market lastTradePrice: 7.0 is not a price in [0, 1]"),
    (without(events(4), "outcomes"), "4 because market outcomePrices has 2 entries for 0 outcomes"),
    (without(events(4), "title"), "4 because title: Field required"),
    (without(events(4), "markets"), "4 because it has no market"),
    (without(events(4), *PRICES), "4 because none of its markets has a price"),
    (without(events(4), "endDate"), "4 because it has no end"),
    ([*HEALTHY, *events(2, first=5, bestAsk="?")], "2 because market bestAsk: '?' is not a number"),
    # A list that contradicts what was asked for.
    (
        without(events(12), *LISTS),
        "12 of the 12 events that the venue lists could not be read: 12 because none of its markets has outcomes",
    ),
    (events(12, **CLOSED), "12 because all its markets are closed, though open events were asked for"),
    ([payload | CLOSED for payload in events(12)], "12 because it is closed, though open ones were asked for"),
    ([*HEALTHY, *(payload | CLOSED for payload in events(2, first=5))], "2 because it is closed"),
    # Closed, and without what an open one states: counted once.
    ([payload | CLOSED for payload in without(events(4), "endDate")], "4 of the 4 events"),
    # Of which nobody knows whether it is open, or what it costs.
    (without(events(12), "closed"), "12 because it does not say whether it is closed"),
    ([*HEALTHY, *without(events(2, first=5), "closed")], "2 because it does not say"),
]
HALF = "4 of the 8 markets that the venue lists could not be read: 4 because "
UNREADABLE_MARKETS: list[tuple[list[Payload], str]] = [
    (in_pairs(bestBid="x"), f"{HALF}bestBid: 'x' is not a number"),
    (in_pairs(*LISTS), f"{HALF}it has no outcomes"),
    (in_pairs(*PRICES, "closed"), f"{HALF}it does not say whether it is closed"),
    (in_pairs(*PRICES), f"{HALF}it has no price"),
    (
        [event_payload(n, *without([market_payload(n)], "closed")) for n in range(1, 5)],
        "4 of the 4 markets that the venue lists could not be read: 4 because it does not say whether it is closed",
    ),
]


def test_what_cannot_be_read_freezes_no_run_and_the_next_call_chooses_anew(
    ledger: Store,
) -> None:
    for listed, said in UNREADABLE:
        refused(ledger, serving_text(listed), said, f"of the {len(listed)} events")
    for listed, said in UNREADABLE_MARKETS:
        refused(ledger, serving(listed), said)
    assert statuses(decide_live(ledger, serving(HEALTHY))) == {"market_price": ["recorded"] * 4}


def test_reasons_are_counted_by_what_is_wrong_not_by_what_was_seen(ledger: Store) -> None:
    broken = [payload for n in range(1, 8) for payload in events(1, first=n, bestBid=f"{n}x")]
    listed = [*broken, *without(events(1, first=8), "title")]
    refused(ledger, serving_text(listed), "8 of the 8 events", ": 7 because market bestBid: '1x' ", "; 1 because")


def test_a_fifth_that_cannot_be_read_is_left_out_and_noted(ledger: Store) -> None:
    report = decide_live(ledger, serving([*HEALTHY, *events(1, first=5, bestBid="x")]))
    assert statuses(report) == {"market_price": ["recorded"] * 4}
    assert any("market 5 could not be read" in note for note in report.notes)


def test_nothing_is_frozen_where_nothing_was_chosen_and_a_single_market_could_not_be_read(ledger: Store) -> None:
    listed = [*(payload | {"volume24hr": 1} for payload in events(10)), *events(1, first=11, bestBid="x")]
    refused(ledger, serving(listed), "none of the 11 events ", " was chosen, and not all could be read: 1 bec")


def test_a_closed_market_in_an_open_event_is_nothing_unusual(ledger: Store) -> None:
    assert statuses(decide_live(ledger, serving(in_pairs(**CLOSED)))) == {"market_price": ["recorded"] * 4}


NOT_TRADING: Payload = {"bestBid": 0, "bestAsk": 1, "lastTradePrice": 0, "outcomePrices": '["0", "0"]'}
QUIET = [payload | {"volume24hr": 1} for payload in HEALTHY]


def test_a_live_run_without_events_is_not_stored_and_the_next_call_chooses_anew(ledger: Store) -> None:
    for listed in (
        events(12, **NOT_TRADING),
        events(12, outcomes='["A", "B", "C"]', outcomePrices="[0.1, 0.2, 0.7]", clobTokenIds='["1", "2", "3"]'),
        [payload | {"endDate": "2020-01-01T00:00:00Z"} for payload in events(12, endDate="2020-01-01T00:00:00Z")],
        [payload | {"archived": True} for payload in events(10)],
        QUIET,
    ):
        report = decide_live(ledger, serving(listed))
        assert (report.events, report.decisions, report.undecided) == ((), (), 0)
        assert report.notes[-1].startswith("no event keeps the rules (")
        assert f"{len(listed)}); nothing is stored, and the next call chooses anew" in report.notes[-1]
        assert decide_view(report).document()["run"] is None
        assert runs_in(ledger) == 0
    assert statuses(decide_live(ledger, serving(HEALTHY))) == {"market_price": ["recorded"] * 4}


def test_a_live_run_without_events_that_an_older_version_stored_says_how_to_void_it(ledger: Store) -> None:
    plan = decide_live(ledger, serving(QUIET)).run
    assert not plan.id
    with ledger.write() as connection:
        freeze_run(connection, plan, ())
    report = decide_live(ledger, serving(HEALTHY))
    assert report.events == ()
    way_out = "`predibot runs void tiny@2026-02-13T00:00Z --reason WHY` lets it be decided anew"
    assert any(way_out in note for note in report.notes)
    with ledger.write() as connection:
        void_run(connection, plan.key, reason="the venue was in trouble", at=NOW)
    assert len(decide_live(ledger, serving(HEALTHY)).events) == 4


WEEK = "a week's volume above 0 (volume1wk), by which rank_by orders"
DAY = "a day's volume above 0 (volume24hr), which min_volume_24h_usd needs"
TAG = "a tag (tags), which exclude, include and per_category need"
TOKENS = "tokens (clobTokenIds), which their prices are of"


def lacking_in(field: str, value: object, lacking: int) -> list[Payload]:
    """Return ten events, the last of which lack a field: those of no volume are listed last."""
    of_markets = {field: value} if field in ("clobTokenIds", "volume1wk") else {}
    whole, bare = events(10 - lacking), events(lacking, first=11 - lacking, **of_markets)
    return [*whole, *(payload | {field: value} for payload in bare)]


@pytest.mark.parametrize(
    ("field", "value", "selection", "named"),
    [
        ("volume1wk", None, {}, WEEK),
        ("volume1wk", 0, {}, WEEK),
        ("volume24hr", None, {}, DAY),
        ("volume24hr", 0, {"min_volume_24h_usd": 0.0}, None),
        ("volume24hr", None, {"min_volume_24h_usd": 0.0}, None),
        ("tags", [], {}, TAG),
        ("tags", [], {"exclude": ()}, None),
        ("clobTokenIds", None, {}, TOKENS),
    ],
)
@pytest.mark.parametrize("lacking", few([3, 9, 10], 9))
def test_a_field_that_more_than_a_fifth_lack_freezes_no_run_where_the_rules_need_it(
    ledger: Store, field: str, value: object, selection: dict[str, Any], named: str | None, lacking: int
) -> None:
    listed = lacking_in(field, value, lacking)
    recipe = recipe_of("market_price")
    recipe = replace(recipe, selection=replace(recipe.selection, **selection))
    if named is None or (named == WEEK and lacking <= MAX_UNRANKED_SHARE * len(listed)):
        report = decide_live(ledger, serving(listed), recipe=recipe)
        assert len(report.events) == MIN_TELLING_EVENTS
        # Those of no volume are ranked last.
        assert any(note.endswith("above 50% no run is made") for note in report.notes) == (named == WEEK)
        return
    things = "open markets" if field == "clobTokenIds" else "events"
    said = f"{lacking} of the 10 most traded {things} that the venue lists lack {named}."
    refused(ledger, serving(listed), said, recipe=recipe)
    # Of few, all may lack it by chance.
    assert len(decide_live(ledger, serving(listed[:9]), recipe=recipe).events) == 9


@pytest.mark.parametrize("lacking", [3, 10])
def test_a_day_volume_of_0_is_missing_where_the_rules_need_it(ledger: Store, lacking: int) -> None:
    said = f"{lacking} of the 10 most traded events that the venue lists lack {DAY}"
    refused(ledger, serving(lacking_in("volume24hr", 0, lacking)), said)


@pytest.mark.parametrize(
    ("same", "count"), few(product(["0", 0, "abc", "NaN"], [3, 10]), ("0", 3), (0, 10), ("NaN", 10))
)
def test_events_that_share_one_id_are_unreadable_and_freeze_no_run(ledger: Store, same: object, count: int) -> None:
    listed = events(10)
    broken = [*(payload | {"id": same} for payload in listed[:count]), *listed[count:]]
    # The rest of the list is on a second page, on which they stand again.
    pages = pages_of(broken, [*events(2, first=11), *broken[:count]])
    said = "because its id is that of another event on the page too. "
    refused(ledger, lambda request: [] if request.url.path == "/books" else pages(request), said)
    assert len(decide_live(ledger, serving(listed)).events) == 10


@pytest.mark.parametrize("end", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_an_end_that_stands_for_none_is_none(ledger: Store, end: str) -> None:
    endless = [payload | {"endDate": end} for payload in events(10, endDate=end)]
    refused(ledger, serving(endless), "10 because it has no end")
    # Each of these ends with its market.
    listed = [payload | {"endDate": end} for payload in events(10)]
    assert len(decide_live(ledger, serving(listed)).events) == 10


def test_neither_disorder_nor_volumes_that_no_event_states_cost_a_run(ledger: Store) -> None:
    listed = [payload | {"volume1wk": 1_000 + 100 * n} for n, payload in enumerate(events(40))]
    for payload in listed[::4]:
        (market,) = payload["markets"]
        payload |= {"volume1wk": None, "markets": [market | {"volume1wk": 9_000}]}
    report = decide_live(ledger, serving(listed))
    assert sorted(event.id for event in report.events) == sorted(payload["id"] for payload in listed[::4])
    assert "29 of the 40 events listed stand below one with less volume; they are ranked here" in report.notes
    (note,) = [note for note in report.notes if "no volume of a week" in note]
    assert note.startswith("10 events state no volume of a week, which is the sum of their markets': 1, 13, 17, ")


def test_a_list_that_ends_after_one_full_page_is_cut_and_a_short_one_is_noted(ledger: Store) -> None:
    with pytest.raises(VenueChanged, match="ends after one full page of 100"):
        decide_live(ledger, serving(events(100)))
    assert runs_in(ledger) == 0
    report = decide_live(ledger, serving(events(1)))
    assert any("the venue lists 1 events in all, fewer than a run plays" in note for note in report.notes)


def test_a_field_that_a_fifth_lack_is_no_reason_to_stop(ledger: Store) -> None:
    bare: Payload = {"volume1wk": None, "volume24hr": None, "tags": []}
    listed = [*(payload | bare for payload in events(2, clobTokenIds=None, volume1wk=None)), *events(8, first=3)]
    report = decide_live(ledger, serving(listed))
    assert len(report.events) == 10
    for what, most in (("events that the venue lists lack a week's", 50), (f"lack {TAG}", 20), ("lack tokens", 20)):
        (note,) = [note for note in report.notes if what in note]
        assert note.startswith("2 of the 10 most traded ")
        assert note.endswith(f"look at it from 10% on, above {most}% no run is made")
    assert any(doubt.endswith(f"lack {TAG}") for doubt in doubts_in(report.notes))


@pytest.mark.parametrize(("lacking", "notes"), [(1, 0), (2, 1), (4, 1)])
def test_a_field_that_a_tenth_do_not_state_is_noted(ledger: Store, lacking: int, notes: int) -> None:
    listed = [*without(events(lacking), "closed"), *events(20 - lacking, first=lacking + 1)]
    said = decide_live(ledger, serving(listed)).notes
    found = [note for note in said if "of the 20 events" in note]
    assert len(found) == notes
    if found:
        # What an operator is told of it quotes nothing that was seen.
        assert doubts_in(said)[0] == f"{lacking} of the 20 events that the venue lists could not be read"
        assert found[0].startswith(f"{lacking} of the 20 events that the venue lists could not be read: {lacking} bec")
        assert found[0].endswith("; look at it from 10% on, above 20% no run is made")


def check(listed: list[Payload], *, most: int = 40) -> None:
    """Choose at most so many of the events of a list, or refuse it."""
    venue, _ = venue_of(serving(listed))
    rules = replace(recipe_of("market_price").selection, events=most)
    choose(venue, rules, NOW, only_event_id=None, listener=nobody).check_readable(live=True)


def test_what_nobody_trades_may_lack_volumes() -> None:
    quiet: Payload = {"volume1wk": None, "volume24hr": None}
    listed = [*events(MOST_TRADED_EVENTS), *(payload | quiet for payload in events(300, first=501))]
    check(listed, most=150)


@pytest.mark.parametrize("listed", [5, 15, 35, 95])
def test_exactly_a_fifth_may_be_unreadable_and_one_more_may_not(listed: int) -> None:
    def of_events(bad: int) -> list[Payload]:
        return [*events(bad, bestBid="x"), *events(listed - bad, first=bad + 1)]

    def of_markets(bad: int) -> list[Payload]:
        broken = [market_payload(100 + n, bestBid="x") for n in range(bad)]
        return [event_payload(1, *broken, *(market_payload(n) for n in range(1, listed - bad + 1)))]

    fifth = listed // 5
    for things, some in (("events", of_events), ("markets", of_markets)):
        check(some(fifth))
        with pytest.raises(VenueChanged, match=f"{fifth + 1} of the {listed} {things} that the venue lists could not"):
            check(some(fifth + 1))


def test_a_market_without_an_end_of_its_own_has_that_of_its_event(ledger: Store) -> None:
    listed = [event_payload(n, *without([market_payload(n)], "endDate")) for n in range(1, 13)]
    chosen = decide_live(ledger, serving(listed)).events
    assert len(chosen) == 10
    assert all(market.closes_at == event.closes_at for event in chosen for market in event.markets)


def test_a_list_without_any_event_is_an_outage(ledger: Store) -> None:
    with pytest.raises(VenueUnavailable, match="lists no event at all"):
        decide_live(ledger, serving([]))


def test_an_event_that_was_named_and_cannot_be_read_freezes_no_run(ledger: Store) -> None:
    for broken in (events(1, bestBid="x"), without(events(1), "markets")):
        with pytest.raises(VenueChanged):
            decide_live(ledger, serving(broken), event_id="1")
    assert runs_in(ledger) == 0
    # The rule about the end is waived for an event that was named.
    report = decide_live(ledger, serving(without(events(1), "endDate")), event_id="1")
    assert statuses(report) == {"market_price": ["recorded"]}


def test_a_sandbox_in_trouble_freezes_no_empty_run(ledger: Store) -> None:
    settings = Settings(call_deadline_seconds=5.0)
    faulty = open_venue("sandbox:events=3,fault=missing_fields", settings, as_of=None, purpose="decide", clock=clock)
    with faulty as opened, pytest.raises(VenueChanged, match="No run is made"):
        decide(request_of(), opened, Resources(ledger, settings, clock, nobody))


def test_a_recording_says_the_same_tomorrow_so_its_empty_run_stands_with_a_way_out(
    ledger: Store, archive: Path
) -> None:
    (archive / "snapshots" / "2026-02-13T193000Z" / "events.json").write_text('[{"id": "1"}]')
    assert decide_on(ledger, archive).events == ()
    again = decide_on(ledger, archive)
    assert any("predibot runs void tiny@2026-02-13T00:00Z" in note for note in again.notes)
