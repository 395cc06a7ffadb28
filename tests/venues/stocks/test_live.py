"""Stocks live: played at the day's close over a real connection, kept in a folder, and replayed from it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from predibot.config import Settings
from predibot.domain.price import EQUITY, Instrument
from predibot.errors import UsageError, VenueMissing, VenueUnavailable
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_past, open_venue
from predibot.ledger.store import Store
from predibot.plugins.venues import check_venue_spec, venue_or_defaults
from predibot.recipe.recipe import Recipe
from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.world import World
from predibot.venues.stocks.assumptions import assumptions
from predibot.venues.stocks.live import LIVE_FOLDER
from tests.jobs.replay.hand_made_stocks import journal_of, play, recipe_of, values_of
from tests.jobs.tiny import nobody

KEY = "0123456789abcdefPLANTED"
TICKERS = '["KO", "UNH", "XOM"]'
BOTS = ("equal_weights", "buy_and_hold", "random_weights")
FIRST = datetime(2025, 5, 27, 22, 45, tzinfo=UTC)
"""A Tuesday."""
EVENINGS = tuple(FIRST + timedelta(days=days) for days in (0, 1, 2, 3, 6))


@pytest.fixture(scope="module")
def world() -> World:
    return World.from_seed(3, events=5)


@pytest.fixture
def server(world: World) -> Iterator[SandboxServer]:
    with SandboxServer(world, now=FIRST) as server:
        yield server


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIINGO_API_KEY", KEY)
    monkeypatch.setenv("ALPHA_VANTAGE_API_KEY", KEY)


def settings_of(server: SandboxServer) -> Settings:
    return Settings(urls={"tiingo_url": server.search_url, "alpha_vantage_url": server.search_url})


def decide_live(
    store: Store, server: SandboxServer, now: datetime, recipe: Recipe, spec: str = "stocks:live"
) -> DecideReport:
    """Decide on an evening as `predibot decide --venue stocks:live` does."""
    server.now = now
    with open_live(server, now, spec, recipe.selection.only) as opened:
        resources = Resources(store, settings_of(server), lambda: now, nobody)
        return decide(RunRequest(recipe, recipe.digest), opened, resources)


def open_live(server: SandboxServer, now: datetime, spec: str, only: tuple[str, ...]):  # type: ignore[no-untyped-def]
    return open_venue(spec, settings_of(server), as_of=None, purpose="decide", clock=lambda: now, only=only)


@pytest.mark.parametrize(("provider", "evenings"), [("tiingo", EVENINGS), ("alpha_vantage", EVENINGS[:2])])
def test_days_live_are_the_same_as_their_folder_replayed(
    server: SandboxServer, provider: str, evenings: tuple[datetime, ...]
) -> None:
    recipe = recipe_of(*BOTS, tickers=TICKERS)
    with Store.open("sqlite:///live.db") as live, Store.open("sqlite:///replayed.db") as replayed:
        for now in evenings:
            report = decide_live(live, server, now, recipe, f"stocks:live:{provider}")
            assert [each.status for each in report.decisions] == ["recorded"] * len(BOTS)
        play(replayed, LIVE_FOLDER.resolve(), recipe, first=evenings[0], last=evenings[-1])
        for bot in BOTS:
            assert values_of(live, bot) == values_of(replayed, bot)
            assert len(values_of(live, bot)) == len(evenings)
            booked = [(row.kind, row.at, row.shares, row.cash_usd) for row in journal_of(live, bot)]
            assert booked == [(row.kind, row.at, row.shares, row.cash_usd) for row in journal_of(replayed, bot)]
            assert any(kind == "fill" for kind, *_ in booked)


def test_what_was_read_is_not_asked_for_again(server: SandboxServer) -> None:
    recipe = recipe_of(*BOTS, tickers=TICKERS)
    with Store.open("sqlite:///live.db") as store:
        decide_live(store, server, FIRST, recipe)
        asked = server.requests
        assert 0 < asked <= 6
        again = decide_live(store, server, FIRST + timedelta(minutes=5), recipe)
        assert server.requests == asked
        assert "runs/out/stocks" in str(LIVE_FOLDER) and again.run.venue == "stocks:live"


def test_the_prompt_has_company_sector_volume_and_changes(server: SandboxServer) -> None:
    with open_live(server, FIRST, "stocks:live", ("KO",)) as opened:
        event = opened.venue.event("KO", FIRST)
        assert (event.markets[0].description, event.tags[0].label) == ("Coca-Cola", "Consumer staples")
        points = opened.venue.price_path(
            Instrument("stocks", EQUITY, "KO"), start=FIRST - timedelta(days=20), until=FIRST
        )
        assert len(points.points) >= 13 and all(point.volume_shares for point in points.points)
        assert opened.venue.quotes(event)["KO"].at == FIRST.replace(hour=21, minute=0)


def test_a_company_that_nobody_packaged_is_asked_for_once(server: SandboxServer) -> None:
    for _ in range(2):
        with open_live(server, FIRST, "stocks:live", ("SPY",)) as opened:
            assert opened.venue.event("SPY", FIRST).markets[0].description == "Simulated SPY"
    assert server.requests == 2


def test_a_weekend_has_no_close_and_nothing_is_decided(server: SandboxServer) -> None:
    recipe = recipe_of(*BOTS, tickers=TICKERS)
    with Store.open("sqlite:///live.db") as store:
        report = decide_live(store, server, datetime(2025, 5, 31, 22, 45, tzinfo=UTC), recipe)
        assert not report.has_session and report.decisions == ()
        assert (
            "2025-05-31 is no trading day, or its files are late: the last close is of 2025-05-30" in report.notes[-1]
        )


def test_a_half_day_is_a_trading_day_and_a_day_without_data_is_none(server: SandboxServer) -> None:
    recipe, half = recipe_of("equal_weights", tickers=TICKERS), datetime(2025, 11, 28, 22, 45, tzinfo=UTC)
    with Store.open("sqlite:///live.db") as store:
        assert decide_live(store, server, half, recipe).has_session
        # On Monday evening the provider still stands where it stood.
        server.now, late = half, half + timedelta(days=3)
        with open_live(server, late, "stocks:live", recipe.selection.only) as opened:
            resources = Resources(store, settings_of(server), lambda: late, nobody)
            report = decide(RunRequest(recipe, recipe.digest), opened, resources)
        assert not report.has_session
        assert "2025-12-01 is no trading day, or its files are late" in report.notes[-1]
        # The next call gets what came meanwhile.
        assert decide_live(store, server, late + timedelta(hours=1), recipe).has_session


def test_a_close_that_is_late_for_one_stock_is_a_note_and_it_is_not_traded(server: SandboxServer) -> None:
    recipe = recipe_of("equal_weights", tickers=TICKERS)
    with open_live(server, FIRST, "stocks:live", recipe.selection.only):
        pass
    lines = (LIVE_FOLDER / "KO.csv").read_text().splitlines()
    (LIVE_FOLDER / "KO.csv").write_text("\n".join(lines[:-1]) + "\n")
    server.now = FIRST - timedelta(days=1)
    with open_live(server, FIRST, "stocks:live", recipe.selection.only) as opened:
        page = opened.venue.events(FIRST)
        assert [event.id for event in page.events if event.markets[0].quote is None] == ["KO"]
        assert any("KO has no close of 2025-05-27: a halt, or a late file" in note for note in page.notes)


def test_a_stock_that_the_provider_lacks_is_a_note_and_the_others_play(server: SandboxServer) -> None:
    recipe = recipe_of(*BOTS, tickers='["KO", "UNH", "NONE"]')
    with Store.open("sqlite:///live.db") as store:
        report = decide_live(store, server, FIRST, recipe)
    assert [each.status for each in report.decisions] == ["recorded"] * len(BOTS)
    assert any("tiingo has no stock NONE" in note for note in report.notes)


def test_a_provider_that_says_no_more_is_unavailable(world: World) -> None:
    said = r"no stock could be read: KO: .*UNH: it was not asked for any more"
    options = SandboxOptions(fault=Fault("limit_note", seconds=0.0))
    with SandboxServer(world, now=FIRST, options=options) as server, pytest.raises(VenueUnavailable, match=said):
        open_live(server, FIRST, "stocks:live", ("KO", "UNH"))


def test_without_a_key_or_a_library_it_says_what_to_set(server: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="knows no stock yet"):
        open_live(server, FIRST, "stocks:live", ())
    for name in ("TIINGO_API_KEY", "ALPHA_VANTAGE_API_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setitem(__import__("sys").modules, "yfinance", None)
    with pytest.raises(VenueMissing, match="set TIINGO_API_KEY or ALPHA_VANTAGE_API_KEY"):
        open_live(server, FIRST, "stocks:live", ("KO",))
    with pytest.raises(VenueMissing, match=r"pip install 'predibot\[stocks\]'"):
        open_live(server, FIRST, "stocks:live:yfinance", ("KO",))


def test_its_spec_is_live_and_a_folder_is_not() -> None:
    assert check_venue_spec("stocks:live") == "stocks:live"
    assert check_venue_spec("stocks:live:tiingo") == "stocks:live:tiingo"
    with pytest.raises(UsageError, match=r"no provider of stocks 'tingo'\. Did you mean 'tiingo'"):
        check_venue_spec("stocks:live:tingo")
    assert venue_or_defaults("stocks:live").live and not venue_or_defaults("stocks:/tmp").live
    with pytest.raises(UsageError, match=r"Replay its folder with --venue stocks:runs/out/stocks"):
        open_past("stocks:live", Settings(), lambda: FIRST)


def test_the_doctor_tries_each_provider_that_has_a_key(server: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALPHA_VANTAGE_API_KEY")
    monkeypatch.setitem(__import__("sys").modules, "yfinance", None)
    tiingo, alpha_vantage, yahoo = assumptions(settings_of(server), lambda: FIRST)
    assert tiingo.holds and "closes of SPY in 14 days, the last of 2025-05-27 at $" in tiingo.seen
    assert alpha_vantage.holds and alpha_vantage.seen.startswith("not tried: alpha_vantage wants a key")
    assert yahoo.seen == "not tried: yfinance is not installed; run `pip install 'predibot[stocks]'`"
    # Once the server says nothing new any more, it says so.
    server.now = FIRST
    (late, *_) = assumptions(settings_of(server), lambda: FIRST + timedelta(days=60))
    assert not late.holds and late.seen.startswith("0 closes of SPY in 14 days")
