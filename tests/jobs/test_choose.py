"""Choosing on a venue that is in trouble: a day is not lost to a list that cannot be read for a minute."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from predibot.config import Settings
from predibot.errors import VenueChanged, VenueUnavailable
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.venues import OpenVenue, open_venue
from predibot.ledger.runs import list_runs
from predibot.ledger.store import Store
from tests.jobs.tiny import clock, decide_on, nobody, recipe_of, request_of, statuses
from tests.venues.payloads import NOW, event_payload, market_payload, pages_of, venue_of

Payload = dict[str, object]
Answer = Callable[[httpx.Request], object]


def events(count: int, *, first: int = 1, **changes: object) -> list[Payload]:
    """Return events with one market each, whose fields are changed."""
    markets = [market_payload(number, clobTokenIds=None, **changes) for number in range(first, first + count)]
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


def healthy(*, more: int = 0) -> list[Payload]:
    """Return four events that can be played, with any number besides."""
    return events(4 + more)


def serving(listed: list[Payload]) -> Answer:
    """Return a venue that lists these events, and says of each what it lists."""
    by_path = {f"/events/{payload['id']}": payload for payload in listed if "id" in payload}
    pages = pages_of(listed)

    def answer(request: httpx.Request) -> object:
        return pages(request) if request.url.path == "/events/keyset" else by_path[request.url.path]

    return answer


def decide_live(store: Store, answer: Answer, *, event_id: str | None = None) -> DecideReport:
    """Decide on a live venue whose network is a function."""
    venue, _ = venue_of(answer)
    with OpenVenue("polymarket", venue, NOW, ExitStack()) as opened:
        request = request_of(recipe_of("market_price"), event_id=event_id)
        return decide(request, store=store, opened=opened, settings=Settings(), clock=lambda: NOW, listener=nobody)


def runs_in(store: Store) -> int:
    with store.read() as connection:
        return len(list_runs(connection))


@pytest.fixture
def file(tmp_path: Path) -> Store:
    return Store.open(f"sqlite:///{tmp_path}/ledger.db")


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (events(4, bestBid="x", bestAsk="y"), "4 because market bestBid: 'x' is not a number"),
        (events(4, bestBid=float("nan")), "4 because market bestBid: 'NaN' is not a finite number"),
        (events(4, outcomePrices='["NaN", "NaN"]'), "4 because market outcomePrices"),
        (events(4, lastTradePrice=7), "4 because market lastTradePrice: 7.0 is not a price in [0, 1]"),
        (without(events(4), "outcomes"), "4 because market outcomePrices has 2 entries for 0 outcomes"),
        (without(events(4), "title"), "4 because title: Field required"),
        (without(events(4), "markets"), "4 because it has no market"),
        (
            without(events(4), "bestBid", "bestAsk", "lastTradePrice", "outcomePrices"),
            "4 because none of its markets has a price",
        ),
        (without(events(4), "endDate"), "4 because it has no end"),
        ([*healthy(), *events(2, first=5, bestAsk="?")], "2 because market bestAsk: '?' is not a number"),
    ],
)
def test_what_cannot_be_read_freezes_no_run_and_the_next_call_chooses_anew(
    file: Store, listed: list[Payload], said: str
) -> None:
    with file:
        with pytest.raises(VenueChanged, match="No run is made") as caught:
            decide_live(file, serving_text(listed))
        assert said in str(caught.value)
        assert f"of the {len(listed)} events" in str(caught.value)
        assert runs_in(file) == 0
        assert statuses(decide_live(file, serving(healthy()))) == {"market_price": ["recorded"] * 4}


def serving_text(listed: list[Payload]) -> Answer:
    """Return a venue that lists these events and knows nothing else, also where they are no JSON."""
    return lambda _request: httpx.Response(200, text=json.dumps({"events": listed}))


def test_reasons_are_counted_by_what_is_wrong_not_by_what_was_seen(file: Store) -> None:
    listed = [
        *(payload for n in range(1, 8) for payload in events(1, first=n, bestBid=f"{n}x")),
        *without(events(1, first=8), "title"),
    ]
    with file, pytest.raises(VenueChanged, match=r"8 of the 8 events .*: 7 because market bestBid: '1x' .*; 1 because"):
        decide_live(file, serving_text(listed))


def test_a_fifth_that_cannot_be_read_is_left_out_and_noted(file: Store) -> None:
    with file:
        report = decide_live(file, serving([*healthy(), *events(1, first=5, bestBid="x")]))
    assert statuses(report) == {"market_price": ["recorded"] * 4}
    assert any("market 5 could not be read" in note for note in report.notes)


def test_nothing_is_frozen_where_nothing_was_chosen_and_a_single_market_could_not_be_read(file: Store) -> None:
    quiet: list[Payload] = [{**payload, "volume24hr": 1} for payload in healthy(more=6)]
    with file:
        with pytest.raises(
            VenueChanged, match=r"none of the 11 events .* was chosen, and not all could be read: 1 bec"
        ):
            decide_live(file, serving([*quiet, *events(1, first=11, bestBid="x")]))
        assert runs_in(file) == 0
        assert decide_live(file, serving(quiet)).events == ()
        assert runs_in(file) == 1


def test_a_list_without_any_event_is_an_outage(file: Store) -> None:
    with file, pytest.raises(VenueUnavailable, match="lists no event at all"):
        decide_live(file, serving([]))


def test_an_event_that_was_named_and_cannot_be_read_freezes_no_run(file: Store) -> None:
    with file:
        for broken in (events(1, bestBid="x"), without(events(1), "markets")):
            with pytest.raises(VenueChanged):
                decide_live(file, serving(broken), event_id="1")
        assert runs_in(file) == 0
        # The rule about the end is waived for an event that was named.
        report = decide_live(file, serving(without(events(1), "endDate")), event_id="1")
    assert statuses(report) == {"market_price": ["recorded"]}


def test_a_sandbox_in_trouble_freezes_no_empty_run(file: Store) -> None:
    settings = Settings(call_deadline_seconds=5.0)
    faulty = open_venue("sandbox:events=3,fault=missing_fields", settings, as_of=None, purpose="decide", clock=clock)
    with file, faulty as opened, pytest.raises(VenueChanged, match="No run is made"):
        decide(request_of(), store=file, opened=opened, settings=settings, clock=clock, listener=nobody)


def test_a_recording_says_the_same_tomorrow_so_its_empty_run_stands_with_a_way_out(file: Store, archive: Path) -> None:
    (archive / "snapshots" / "2026-02-13T193000Z" / "events.json").write_text('[{"id": "1"}]')
    with file:
        assert decide_on(file, archive).events == ()
        again = decide_on(file, archive)
        assert any("predibot runs void tiny@2026-02-13T00:00Z" in note for note in again.notes)
