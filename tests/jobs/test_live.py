"""A live venue: quotes age while a bot thinks, so each decision is booked at fresh ones."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import NoReturn

import httpx
import pytest

from predibot import strategies
from predibot.config import Settings
from predibot.contracts import OpenVenue
from predibot.domain.clock import format_instant
from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.errors import MarketClosed, UsageError, VenueUnavailable
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.jobs.track import track
from predibot.ledger.read.export import export_rows
from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.store import Store
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.venues.polymarket.client import Polymarket
from tests.jobs.tiny import DAY, clock, nobody, recipe_of, request_of, statuses
from tests.ledger.statements import found
from tests.soaks import ONE_DATABASE

MINUTE = timedelta(minutes=1)
SPENT = '''
from dataclasses import dataclass

from predibot.errors import BudgetSpent


@dataclass(frozen=True, slots=True)
class Spent:
    """Spends all it may before it answers."""

    def decide(self, context):
        """Raise."""
        raise BudgetSpent("the bot's limit of $1 is reached")
'''
YEAR = {"every": "365d"}
QUOTED = """decisions JOIN bots ON bots.id = decisions.bot_id
JOIN quotes shown ON shown.decision_id = decisions.id AND shown.role = 'shown'
JOIN quotes booked ON booked.decision_id = decisions.id AND booked.role = 'booked'"""


@dataclass
class Live:
    """A sandbox that passes for the live venue, and the hands of its clock."""

    now: datetime
    step: timedelta = timedelta(seconds=61)
    server: SandboxServer = field(init=False)
    venue: Polymarket = field(init=False)

    def start(self) -> ExitStack:
        stack = ExitStack()
        self.server = stack.enter_context(SandboxServer(now=lambda: self.now, options=SandboxOptions(events=8)))
        self.venue = stack.enter_context(
            Polymarket(
                gamma_url=self.server.gamma_url,
                clob_url=self.server.clob_url,
                clock=lambda: self.now,
                name="sandbox",
                live=True,
            )
        )
        return stack

    @property
    def model(self) -> str:
        """Return a bot whose model the server has."""
        asked = f'model = "openai/lazy"\nbase_url = "{self.server.chat_url}"\nprice_usd_per_million_tokens = 0'
        return f'strategy = "one_shot"\n{asked}'

    def tick(self) -> datetime:
        """Return the time, and let a step pass, by default more than a minute."""
        self.now += self.step
        return self.now

    def decide(self, store: Store, *bots: str, ticking: bool = False) -> DecideReport:
        with OpenVenue("live", self.venue, self.now, ExitStack()) as opened:
            clock = self.tick if ticking else lambda: self.now
            resources = Resources(store, Settings(workers=1), clock, nobody)
            return decide(request_of(recipe_of(*bots, **YEAR)), opened, resources)


@pytest.fixture
def live() -> Iterator[Live]:
    """Return a live venue at the opening of its world."""
    made = Live(SANDBOX_OPENS_AT)
    with made.start():
        yield made


@pytest.fixture
def event(live: Live) -> Event:
    """Return the event that is open longest."""
    return max(live.venue.events(live.now).events, key=lambda each: each.closes_at or live.now)


def test_quotes_are_taken_once_a_minute_for_all_bots(live: Live, event: Event) -> None:
    board = VenueBoard(live.venue, lambda: live.now)
    first = board.open_event(event)
    asked = live.server.requests
    live.now += MINUTE
    assert board.open_event(event) == first
    assert live.server.requests == asked
    live.now += timedelta(seconds=1)
    second = board.open_event(event)
    assert live.server.requests > asked
    assert {market.quote.at for market in second.markets if market.quote} == {live.now}


def test_a_request_begun_after_an_answer_is_shared_and_one_that_fails_or_is_answered_of_old_takes_no_quote_away(
    live: Live, event: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = VenueBoard(live.venue, lambda: live.now)
    first, answered_at = board.open_event(event), live.now
    live.now += timedelta(seconds=1)
    second = board.open_event(event, after=answered_at)
    asked = live.server.requests
    assert board.open_event(event, after=answered_at) == second != first
    assert live.server.requests == asked
    assert board.open_event(event, after=live.now) == second
    assert live.server.requests > asked
    monkeypatch.setattr(Polymarket, "quotes", lambda *_: {market.id: market.quote for market in first.markets})
    assert board.open_event(event, after=live.now) == second
    monkeypatch.setattr(Polymarket, "quotes", fail)
    assert board.open_events([event], live.now) == (
        (second,),
        ("the venue did not answer again; quotes of the last 60 s stand: venue down",),
    )
    live.now += timedelta(seconds=61)
    with pytest.raises(VenueUnavailable):
        board.open_events([event], live.now)


def fail(*_: object) -> NoReturn:
    raise VenueUnavailable("venue down")


def test_a_market_that_closed_meanwhile_cannot_be_quoted_and_accounts_are_shown_it_without_a_quote(
    live: Live, event: Event
) -> None:
    board = VenueBoard(live.venue, lambda: live.now)
    assert board.quote_event(event) == board.open_event(event)
    live.now = (event.closes_at or live.now) + 20 * DAY
    with pytest.raises(MarketClosed, match=f"event {event.id} cannot be decided any more: market .* closed meanwhile"):
        board.open_event(event)
    assert {market.quote for market in board.quote_event(event).markets} == {None}


def test_a_decision_is_booked_at_a_fresh_quote_with_the_shown_one_beside_it(store: Store, live: Live) -> None:
    report = live.decide(store, "market_price", ticking=True)
    assert {each.status for each in report.decisions} == {"recorded"}
    of_one_market = "AND booked.market_row = shown.market_row"
    rows = found(store, f"SELECT shown.at, booked.at, decided_at FROM {QUOTED} {of_one_market}")
    assert len(rows) >= len(report.decisions)
    assert all(shown < booked <= decided for shown, booked, decided in rows)
    assert min(shown for shown, _, _ in rows) > to_microseconds(report.run.as_of)


@ONE_DATABASE
def test_who_waits_for_others_sees_a_price_asked_for_after_their_answers_and_a_model_is_booked_at_one_after_its_own(
    store: Store, live: Live
) -> None:
    # So small a step that nothing grows a minute old, however many look at the clock.
    live.step = timedelta(milliseconds=50)
    bots = ("market_price", live.model, 'strategy = "calibrated"\nbot = "one_shot"')
    report = live.decide(store, *bots, ticking=True)
    assert {each.stored.message for each in report.decisions} == {""}
    columns = "bots.name, decisions.subject_row, decided_at, min(shown.at), min(booked.at)"
    rows = found(store, f"SELECT {columns} FROM {QUOTED} GROUP BY decisions.id, bots.name")
    times = {(name, subject): (decided, shown, booked) for name, subject, decided, shown, booked in rows}
    for (name, subject), (_, shown, booked) in times.items():
        assert (booked > shown) == (name == "one_shot")
        if name == "calibrated":
            assert times["one_shot", subject][0] <= shown


@ONE_DATABASE
def test_an_answer_is_booked_at_the_quotes_it_was_shown_where_the_venue_fails_meanwhile(
    store: Store, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.step, asked, quotes = timedelta(milliseconds=50), set[str](), Polymarket.quotes

    def once(venue: Polymarket, event: Event) -> Mapping[str, Quote]:
        if event.id in asked:
            fail()
        asked.add(event.id)
        return quotes(venue, event)

    monkeypatch.setattr(Polymarket, "quotes", once)
    report = live.decide(store, live.model, ticking=True)
    assert {each.status for each in report.decisions} == {"recorded"}
    notes = found(store, "SELECT notes_json FROM decisions")
    assert len(notes) == len(asked) and all("the venue did not answer again" in each for each in notes)


@ONE_DATABASE
def test_a_bot_whose_budget_is_spent_abstains_at_the_quotes_it_was_shown(
    store: Store, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("spent.py").write_text(SPENT, encoding="utf-8")
    monkeypatch.setattr(strategies, "__path__", [str(tmp_path), *strategies.__path__])
    report = live.decide(store, "spent", ticking=True)
    assert {(each.status, each.stored.reason_kind) for each in report.decisions} == {("abstained", "budget")}
    (at,) = found(store, "SELECT min(at) FROM quotes WHERE role = 'shown'")
    assert at > to_microseconds(report.run.as_of)


@ONE_DATABASE
def test_a_market_that_closed_meanwhile_makes_the_decision_fail(store: Store, live: Live) -> None:
    first = live.decide(store, "market_price")
    live.now = max(event.closes_at or live.now for event in first.events) + 20 * DAY
    later = live.decide(store, "market_price", "random_bet")
    events = len(first.events)
    assert statuses(later) == {"market_price": ["skipped"] * events, "random_bet": ["failed"] * events}
    assert "closed meanwhile" in later.decisions[-1].message


@ONE_DATABASE
def test_tracking_a_live_venue_takes_quotes_of_its_own(store: Store, live: Live) -> None:
    live.decide(store, "market_price")
    live.now += DAY
    with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
        report = track(store=store, opened=opened, settings=Settings(), listener=nobody)
    assert not report.incomplete, report.notes
    with store.read() as connection:
        at = {row["at"] for row in export_rows(connection, "observations") if row["source"] == "quote"}
    assert at == {format_instant(live.now)}


@ONE_DATABASE
def test_an_event_that_was_taken_down_is_a_note_of_tracking_and_no_failure(store: Store, live: Live) -> None:
    gone = max(live.decide(store, "market_price").events, key=lambda each: each.closes_at or live.now).id
    live.now += DAY

    def answer(request: httpx.Request) -> httpx.Response:
        is_gone = request.url.path.endswith(f"/events/{gone}")
        return httpx.Response(404) if is_gone else direct.handle_request(request)

    urls = {"gamma_url": live.server.gamma_url, "clob_url": live.server.clob_url}
    with (
        httpx.HTTPTransport() as direct,
        Polymarket(**urls, clock=lambda: live.now, name="sandbox", transport=httpx.MockTransport(answer)) as venue,
    ):
        opened = OpenVenue("live", venue, live.now, ExitStack())
        report = track(store=store, opened=opened, settings=Settings(), listener=nobody)
    assert not report.incomplete and report.observations > 0
    assert report.notes == (f"the venue has no event any more of open markets (1): {gone}",)


def test_the_past_of_a_live_venue_cannot_be_decided_on() -> None:
    with pytest.raises(UsageError, match="is live: it answers for now"):
        open_venue("polymarket", Settings(), as_of=SANDBOX_OPENS_AT, purpose="decide", clock=clock)
